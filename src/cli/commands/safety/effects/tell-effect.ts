import type { EffectRecord } from '../../../../core/safety/effect.ts'
import { readAct } from '../../../../core/safety/ledger/outside-act.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { describeStates } from './effect-view.ts'

/** Lines of one row of the ledger: what, when, by whom, by whose word, and how the file looked. */
export async function tellEffect(store: ReadStore, row: EffectRecord, now: number): Promise<string[]> {
  const { at, phase, operation, path, target, bytes, outcome, proof, error, workflow, runId, step, approval, code } =
    row
  const act = readAct(row)
  const size = bytes === null ? '' : `, ${formatBytes(bytes)}`
  const known = proof === null ? '' : ` (${phase === 'decided' ? 'signed' : proof})`
  const end = outcome === null ? '' : `: ${outcome}${known}`
  const by = runId === null ? (row.actor ?? '') : `${workflow}, run ${runId}, step ${step}`
  const votes = approval === null ? [] : ((await store.findApproval(approval, now))?.votes ?? [])
  const words = votes.map(({ actor, verdict, reason }) => `${actor} ${verdict}: ${reason ?? '–'}`)
  return [
    `${formatMoment(at, now)}  ${operation} ${phase}${end}  ${formatText(path ?? target ?? '')}${size}`,
    `  by ${formatText(by)}${code === null ? '' : `, code ${code.slice(0, 8)}`}`,
    ...(row.eventId === null ? [] : [`  after event ${formatText(row.eventId)}`]),
    ...(approval === null ? [] : [`  under approval ${approval}  ${formatText(words.join('; '))}`.trimEnd()]),
    ...describeStates(row),
    ...(error === null ? [] : [`  ${formatText(error, 200)}`]),
    ...(act === null ? [] : [`  ${formatText(act, 300)}`]),
  ]
}
