import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import type { Group } from '../../core/safety/differences.ts'

/**
 * The file with the differences of a workflow that its authors want. It belongs to the code, or is
 * beside the corpus.
 */
export function acceptedFile(workflowsDir: string, workflow: string, corpus?: string): string {
  if (corpus !== undefined) return `${corpus.replace(/\.ndjson(\.gz)?$/, '')}.accepted.json`
  return join(workflowsDir, 'backtest', `${workflow}.json`)
}

/** The keys in that file; none without it. */
export function readAccepted(file: string): ReadonlySet<string> {
  try {
    const { accepted } = JSON.parse(readFileSync(file, 'utf8')) as { accepted?: unknown }
    if (Array.isArray(accepted) && accepted.every((key) => typeof key === 'string')) return new Set(accepted)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set()
  }
  throw new UpshotError('invalid_config', `${file} does not hold accepted differences.`, {
    details: { fix: 'Write it with "upshot backtest <workflow> --accept", or remove it.' },
  })
}

/** Writes the keys of these groups, and no others: what is gone is not wanted any more. */
export function writeAccepted(file: string, groups: readonly Group[]): string[] {
  const accepted = groups.map(({ key }) => key).sort()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ accepted }, null, 2)}\n`)
  return accepted
}
