import { UpshotError } from '../../../core/errors.ts'
import { isFinished } from '../../../core/runs/run.ts'
import {
  type Approval,
  type ApprovalItem,
  type DecisionResult,
  parseNumbers,
  QUESTION,
} from '../../../core/safety/approval.ts'
import { checkAnswer } from '../../../core/safety/check-answer.ts'
import { loadProof } from '../../../core/safety/votes/approval-proof.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { withIsoTimes } from '../../../core/time.ts'
import type { Caller } from '../../access/caller.ts'
import type { APPROVAL_ROUTES } from '../../contract/resources/safety/approvals.ts'
import { approveAhead, requireAhead } from '../../operations/approve-ahead.ts'
import type { Call, Handlers } from '../../perform/handler.ts'
import { decodePosition, encodePosition, wholePage } from '../../queries/read-page.ts'
import { given } from '../../queries/read-query.ts'
import { requireApproval } from '../../queries/require-row.ts'
import { maskValue, seesPayloads } from '../../views/run-view.ts'
import type { ResourceParts } from '../parts.ts'

type Vote = Call<'POST /approvals/:id/approve'> | Call<'POST /approvals/:id/deny'>

/** Approvals: the exact list, and the words of people. See decision 45. */
export function approvalHandlers(parts: ResourceParts): Handlers<keyof typeof APPROVAL_ROUTES> {
  const { store, surroundings, clock } = parts
  return {
    async 'GET /approvals'({ query: { limit, after, status, workflow }, caller, now }) {
      const filter = given({ status, workflow, before: decodePosition(after, /^apr_\w+$/) })
      const found = await store.listApprovals({ ...filter, limit, now })
      const mustSign = await mustVotesBeSigned(store)
      return wholePage(found, {
        limit,
        items: found.map((each) => describeApproval(each, mustSign, caller)),
        momentOf: ({ openedAt }) => openedAt,
      })
    },
    async 'GET /approvals/:id'({ params, caller, now }) {
      const found = await requireApproval(store, params.id, now)
      return describeApproval(found, await mustVotesBeSigned(store), caller)
    },
    async 'GET /approvals/:id/items'({ params, query: { limit, after, withQuestion }, caller, now }) {
      const { id } = await requireApproval(store, params.id, now)
      const position = Number(decodePosition(after, /^\d{1,9}$/) ?? (withQuestion ? QUESTION - 1 : QUESTION))
      const items = await store.listApprovalItems({ approval: id, after: position, limit })
      const last = items.at(-1)
      const isMore = items.length === limit && last !== undefined
      return {
        items: items.map((item) => describeItem(item, caller)),
        next: isMore ? encodePosition(String(last.number)) : null,
      }
    },
    async 'POST /approvals/:id/look-ahead'({ params, record, now, signal }) {
      const { id, status } = await requireApproval(store, params.id, now)
      if (status !== 'open') throw new UpshotError('conflict', `The approval ${id} is ${status}: no run waits for it.`)
      await record(id)
      return surroundings.foresee(id, signal)
    },
    async 'POST /approvals/:id/approve'(call) {
      const { params, body, now } = call
      const approval = await requireApproval(store, params.id, now)
      const answer = checkAnswer(approval, body.answer)
      const only = body.only === undefined ? null : parseNumbers(body.only)
      return decide(store, call, { approval: approval.id, verdict: 'approved', only, answer })
    },
    async 'POST /approvals/:id/approve-ahead'({ params, body, operator, writes, record, now, signal, mayGoOn }) {
      const first = await requireApproval(store, params.id, now)
      requireAhead(first)
      if (await mustVotesBeSigned(store)) {
        throw new UpshotError('conflict', 'Each list that comes needs a signature, because approvers are registered.', {
          fix: `Use the command line: upshot approvals approve ${first.id} --ahead <n> --as … --key-file …`,
        })
      }
      await record(first.id, { effects: body.effects.length })
      const { actor, reason } = operator
      const word = { actor, reason, signature: null, verdict: 'approved', only: null, answer: null } as const
      const door: Parameters<typeof approveAhead<Approval>>[0] = {
        listOpen: (workflow) => store.listApprovals({ status: 'open', workflow, limit: 100, now: clock.now() }),
        readList: (list) => loadProof(store, list),
        async approve({ id }, hash) {
          if (!(await mayGoOn())) throw new UpshotError('conflict', 'Your login is over.')
          return writes.decideApproval({ ...word, approval: id, hash }, clock.now())
        },
        hasEnded: async (run) => isFinished((await store.findRun(run))?.status ?? 'completed'),
      }
      return approveAhead(door, { first, effects: body.effects, clock, signal })
    },
    async 'POST /approvals/:id/deny'(call) {
      const { id: approval } = await requireApproval(store, call.params.id, call.now)
      return decide(store, call, { approval, verdict: 'denied', only: null, answer: null })
    },
  }
}

async function decide(
  store: Pick<ReadStore, 'listApprovers'>,
  { body, operator, writes, now }: Vote,
  decision: {
    approval: string
    verdict: 'approved' | 'denied'
    only: { from: number; to: number }[] | null
    answer: string | null
  },
): Promise<DecisionResult> {
  const { hash, as, signature } = body
  // Without a signature to check, one caller could speak for two people.
  if (as !== undefined && !(await mustVotesBeSigned(store))) {
    throw new UpshotError('conflict', `The decision of "${as}" does not count: nobody is registered as an approver.`, {
      fix: 'Decide without --as, or register people: "upshot approvers add <name> --key <file>".',
    })
  }
  const voter = {
    actor: as ?? operator.actor,
    reason: operator.reason,
    signature: signature === undefined ? null : Buffer.from(signature, 'base64'),
  }
  return writes.decideApproval({ hash, ...voter, ...decision }, now)
}

/** From the first approver on, every vote is signed, also after the last one is removed. */
async function mustVotesBeSigned(store: Pick<ReadStore, 'listApprovers'>): Promise<boolean> {
  return (await store.listApprovers()).length > 0
}

function describeApproval(approval: Approval, mustSign: boolean, caller: Pick<Caller, 'role'>) {
  const { answer: _, question, votes, ...rest } = approval
  return {
    ...withIsoTimes(rest),
    mustSign,
    question: question && { ...question, show: seesPayloads(caller) ? question.show : maskValue(question.show) },
    votes: votes.map(withIsoTimes),
  }
}

function describeItem({ asked, ...item }: ApprovalItem, caller: Pick<Caller, 'role'>) {
  const { path = null, bytes = null, modifiedAt = null, isFolder = false, input = null } = asked ?? {}
  const seen = seesPayloads(caller) ? { path, input } : { path: null, input: maskValue(input) }
  return { ...item, ...seen, bytes, modifiedAt, isFolder, asked: seesPayloads(caller) ? asked : null }
}
