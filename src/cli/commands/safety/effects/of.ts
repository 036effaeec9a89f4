import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { systemClock } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { describeEffect } from './effect-view.ts'

/** Rows that are read for one file. */
const MAX_ROWS = 1_000

/** `upshot effects of <file>`: who did what to it, when, by which run and whose word. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<file>', 'a path such as /out/a.mov, or a target such as storage_a:fil_1').action((file) =>
    project.withStore(async (store) => {
      const rows = await findEffects(store, file)
      if (rows.length === 0) {
        throw new UpshotError('not_found', `The ledger has no effect on ${file}.`, {
          details: { fix: 'A delete is found by the path that its run saw, and by its target: storage_a:<id>.' },
        })
      }
      const now = systemClock.now()
      const stories = await Promise.all(rows.map((row) => tell(store, row, now)))
      out.result(rows.map(describeEffect), () => stories.flat())
    }),
  )
}

/** Rows of a target; of a path, all rows of the targets that had it. Oldest first. */
async function findEffects(store: ReadStore, file: string): Promise<EffectRecord[]> {
  const byTarget = await store.listEffects({ target: file, limit: MAX_ROWS })
  const path = /^storage_[abc]:\//.test(file) ? file.slice('storage_a:'.length) : file
  const byPath = path.startsWith('/') ? await store.listEffects({ path, limit: MAX_ROWS }) : []
  const rows = new Map([...byTarget, ...byPath].map((row) => [row.seq, row]))
  for (const { target } of byPath) {
    if (target === null) continue
    for (const row of await store.listEffects({ target, limit: MAX_ROWS })) rows.set(row.seq, row)
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq)
}

async function tell(store: ReadStore, row: EffectRecord, now: number): Promise<string[]> {
  const { at, phase, operation, path, target, bytes, outcome, proof, error, workflow, runId, step, approval, code } =
    row
  const size = bytes === null ? '' : `, ${formatBytes(bytes)}`
  const end = outcome === null ? '' : `: ${outcome}${proof === null ? '' : ` (${proof})`}`
  const by = row.actor ?? `${workflow}, run ${runId}, step ${step}`
  const votes = approval === null ? [] : ((await store.findApproval(approval, now))?.votes ?? [])
  const words = votes.map(({ actor, verdict, reason }) => `${actor} ${verdict}: ${reason ?? '–'}`)
  return [
    `${formatMoment(at, now)}  ${operation} ${phase}${end}  ${formatText(path ?? target ?? '')}${size}`,
    `  by ${formatText(by)}${code === null ? '' : `, code ${code.slice(0, 8)}`}`,
    ...(approval === null ? [] : [`  under approval ${approval}  ${formatText(words.join('; '))}`.trimEnd()]),
    ...(error === null ? [] : [`  ${formatText(error, 200)}`]),
  ]
}
