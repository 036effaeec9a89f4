import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { FileBefore, FileState } from '../../../../core/safety/effect.ts'
import { readAct } from '../../../../core/safety/ledger/outside-act.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import type { Column } from '../../../terminal/table.ts'

type Effect = AnswerOf<'GET /effects'>['items'][number]

/** Lines of the state that a delete required, and of the one that it found. */
function describeStates({ expect, before }: Pick<Effect, 'expect' | 'before'>): string[] {
  const required = expect as FileState | null
  const found = before as FileBefore | null
  return [
    ...(required === null ? [] : [`  only while it is ${describeState(required)}`]),
    ...(found === null ? [] : [`  it was ${describeState(found)}${found.sha256 ? `, SHA-256 ${found.sha256}` : ''}`]),
  ]
}

function describeState({ path, bytes, modifiedAt }: FileState): string {
  const parts = [path && formatText(path), bytes === null ? null : formatBytes(bytes), modifiedAt && `of ${modifiedAt}`]
  return parts.filter(Boolean).join(', ') || 'as it is'
}

/** The columns of a table of ledger rows. */
export function effectColumns(now: number): Column<Effect>[] {
  return [
    { title: 'SEQ', value: ({ seq }) => seq, align: 'right' },
    { title: 'AT', value: ({ at }) => formatMoment(at, now), cut: 'never' },
    { title: 'PHASE', value: ({ phase }) => phase, cut: 'never' },
    { title: 'WHAT', value: ({ operation }) => operation, most: 40 },
    { title: 'FILE', value: ({ path, target }) => path ?? target, most: 60, least: 20, cut: 'start' },
    { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right', isMinor: true },
    { title: 'OUTCOME', value: ({ outcome }) => outcome, most: 20 },
    { title: 'RUN', value: ({ runId }) => runId, cut: 'never', isMinor: true },
    { title: 'BY', value: ({ actor, approval, workflow }) => actor ?? approval ?? workflow, most: 40, isMinor: true },
  ]
}

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
