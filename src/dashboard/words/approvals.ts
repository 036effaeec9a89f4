import type { AnswerOf } from '../../admin/contract/routes.ts'
import { countOf, formatBytes } from './format.ts'

export type Approval = AnswerOf<'GET /approvals/:id'>
export type ApprovalItem = AnswerOf<'GET /approvals/:id/items'>['items'][number]

/** The things that an approval lists: those of a repair are events that would be made up. */
export const nounOf = (kind: Approval['kind']) => (kind === 'repair' ? 'event' : 'effect')

/** The source of an approval: its workflow, or the repair of lost events. */
export const sourceOf = ({ kind, workflow }: Pick<Approval, 'kind' | 'workflow'>) =>
  kind === 'repair' ? 'Repair of lost events' : workflow

/** The subject of an approval in a few words: a list of effects, a question, or a repair. */
export function nameApproval({ kind, openItems, items, status, why }: NamedApproval): string {
  if (kind !== 'guard') return why
  return `${countOf(status === 'open' ? openItems : items, 'effect')} ${why}`
}

type NamedApproval = Pick<Approval, 'kind' | 'openItems' | 'items' | 'status' | 'why'>

/** The person's side of an approval: how many agreed, and how many still have to. */
export function describeVotes({ votes, needs }: Pick<Approval, 'votes' | 'needs'>): string {
  const agreed = votes.filter(({ verdict }) => verdict === 'approved').length
  return needs === 1 ? 'one person decides' : `${agreed} of ${needs} people agreed`
}

type Foreseen = AnswerOf<'POST /approvals/:id/look-ahead'>['ahead'][number]

/** The rest of a held run, as its sum. */
export function describeForeseen({ effects, bytes }: Pick<Foreseen, 'effects' | 'bytes'>): string {
  if (effects === 0) return 'would ask for nothing more'
  return `would ask for ${countOf(effects, 'effect')} more, ${formatBytes(bytes)}`
}

/** The end of a run that was previewed, as a sentence. */
export function describeForeseenEnd({ kind, step, reason }: Foreseen['end']): string {
  const why = reason === null ? '.' : `: ${reason}`
  switch (kind) {
    case 'open':
      return `Nobody knows what comes after the step "${step}"${why}`
    case 'failed':
      return `Then it would fail${why}`
    case 'halted':
    case 'skipped':
      return `Then it would stop${why}`
    case 'continued':
      return 'Then it would go on as another run.'
    case 'completed':
      return 'Then it would complete.'
    default:
      return kind satisfies never
  }
}
