import type { Command } from '@commander-js/extra-typings'
import { readVersion } from '../../input/read-version.ts'
import type { Output } from '../../terminal/output.ts'

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
