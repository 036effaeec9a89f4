import type { Command } from '@commander-js/extra-typings'

/** `--file` stands for both. */
export const EFFECT_NAMES = { without: ['target', 'path'] }

export function addFile(command: Command): void {
  command.option('--file <file>', 'only this path, such as /out/a.mov, or this target, such as storage_a:fil_1')
}

/** A target, or the path in it: the ledger has both. */
export function readFile({ file }: Record<string, unknown>): { path?: string; target?: string } {
  if (typeof file !== 'string') return {}
  const [, path] = /^(?:storage_[abc]:)?(\/.*)$/s.exec(file) ?? []
  return path === undefined ? { target: file } : { path }
}
