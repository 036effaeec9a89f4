import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../output.ts'
import { readVersion } from '../read-version.ts'

/** `upshot version`: which upshot, on which Node. */
export function define(command: Command, out: Output): void {
  command.action(() => {
    const facts = {
      version: readVersion(),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    }
    out.result(facts, () => [`upshot ${facts.version} on Node ${facts.node}, ${facts.platform}`])
  })
}
