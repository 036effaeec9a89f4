import type { AnswerOf } from '../../admin/contract/routes.ts'
import { countOf } from './format.ts'
import type { State } from './states.ts'

export type Approval = AnswerOf<'GET /approvals/:id'>
export type ApprovalItem = AnswerOf<'GET /approvals/:id/items'>['items'][number]

const LOOKS: Record<Approval['status'], { state: State; glyph: string; word: string }> = {
  open: { state: 'person', glyph: '⚖', word: 'open' },
  approved: { state: 'completed', glyph: '✓', word: 'approved' },
  denied: { state: 'failed', glyph: '✗', word: 'denied' },
  expired: { state: 'idle', glyph: '⌛', word: 'expired' },
  withdrawn: { state: 'idle', glyph: '⊘', word: 'withdrawn' },
}

/** Colour, glyph and word of an approval's status. */
export const lookOfApproval = (status: Approval['status']) => LOOKS[status]

/** The subject of an approval in a few words: a list of effects, or a question. */
export function nameApproval({ kind, openItems, items, status, why }: Approval): string {
  if (kind === 'question') return why
  return `${countOf(status === 'open' ? openItems : items, 'effect')} ${why}`
}

/** The person's side of an approval: how many agreed, and how many still have to. */
export function describeVotes({ votes, needs }: Pick<Approval, 'votes' | 'needs'>): string {
  const agreed = votes.filter(({ verdict }) => verdict === 'approved').length
  return needs === 1 ? 'one person decides' : `${agreed} of ${needs} people agreed`
}
