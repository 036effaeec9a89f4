import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { readAct } from '../../../../core/safety/ledger/outside-act.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { describeStates } from './effect-view.ts'

type ToldEffect = AnswerOf<'GET /effects/of-file'>['items'][number]

/** Lines of one row of the ledger: what, when, by whom, by whose word, and how the file looked. */
export function tellEffect(row: ToldEffect, now: number): string[] {
  const { at, phase, operation, path, target, bytes, outcome, proof, error, workflow, runId, step, approval, code } =
    row
  const act = readAct(row)
  const size = bytes === null ? '' : `, ${formatBytes(bytes)}`
  const known = proof === null ? '' : ` (${phase === 'decided' ? 'signed' : proof})`
  const end = outcome === null ? '' : `: ${outcome}${known}`
  const by = runId === null ? (row.actor ?? '') : `${workflow}, run ${runId}, step ${step}`
  const words = row.votes.map(({ actor, verdict, reason }) => `${actor} ${verdict}: ${reason ?? '–'}`)
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
