import type { Command } from '@commander-js/extra-typings'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'

export function define(command: Command, { out }: Cli): void {
  command.action(() => {
    const facts = {
      version: readVersion(),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    }
    out.result(facts, () => [`upshot ${facts.version} on Node ${facts.node}, ${facts.platform}`])
  })
}
