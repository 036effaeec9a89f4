import { z } from 'zod'
import { APPROVAL_STATUSES, MAX_AHEAD } from '../../../../core/safety/approval.ts'
import { defineRoutes, pageOf, paging, reason, time } from '../../route.ts'

const vote = z.object({
  actor: z.string(),
  verdict: z.enum(['approved', 'denied']),
  reason: z.string().nullable(),
  hash: z.string().describe('The list that the vote is about.'),
  at: time(),
  isSigned: z.boolean(),
})

const approval = z
  .object({
    id: z.string(),
    kind: z
      .enum(['guard', 'question', 'repair'])
      .describe('`guard`: effects over a limit; `question`: of `step.approve`; `repair`: events to be made up.'),
    status: z.enum(APPROVAL_STATUSES),
    workflow: z.string(),
    account: z.string(),
    why: z.string().describe('The limit or the question, in words.'),
    items: z.int().describe('Effects in the list, withdrawn ones included.'),
    openItems: z.int(),
    runs: z.int(),
    bytes: z.int(),
    hash: z.string().describe('Names the whole list; a vote needs it.'),
    needs: z.int().describe('Distinct people who have to agree.'),
    role: z.string().nullable().describe('Role that an approver needs; null: any.'),
    question: z
      .object({
        runId: z.string(),
        step: z.string(),
        show: z.unknown().describe('Shown to the person who decides; masked by type for a viewer.'),
        answer: z.unknown().describe('JSON Schema of the answer; null where none is asked for.'),
      })
      .nullable(),
    openedAt: time(),
    expiresAt: time(),
    decidedAt: time().nullable(),
    votes: z.array(vote),
    mustSign: z.boolean().describe('True where approvers are registered: each vote needs a signature.'),
  })
  .meta({ id: 'Approval' })

const approvalItem = z
  .object({
    number: z.int().describe('Counted from 1.'),
    runId: z.string(),
    step: z.string(),
    target: z.string().nullable(),
    path: z.string().nullable().describe('Null for a viewer, who sees no payload.'),
    bytes: z.int().nullable(),
    modifiedAt: z.string().nullable().describe('As the run saw it.'),
    isFolder: z.boolean().describe('True for a folder, which goes with everything in it.'),
    asked: z.unknown().describe('What its hash covers: path, size, date and content; null for a viewer.'),
    input: z.unknown().describe('Content of a write, as its author gives it.'),
    hash: z.string().describe('Covers this item and all before it.'),
    state: z.enum([...APPROVAL_STATUSES, 'moved']),
  })
  .meta({ id: 'ApprovalItem' })

const decision = z
  .object({
    status: z.enum(APPROVAL_STATUSES).describe('`open`: it needs the word of another person.'),
    granted: z.int().describe('Effects that may begin now.'),
    moved: z.int().describe('Effects that were left out or joined later; they wait in `next`.'),
    next: z.string().nullable(),
    woken: z.int().describe('Runs that go on.'),
    missing: z.int().describe('People who still have to agree.'),
  })
  .meta({ id: 'Decision' })

const foreseenEffect = z.strictObject({
  class: z.enum(['delete', 'write']),
  step: z.string(),
  target: z.string().nullable(),
  path: z.string().nullable(),
  bytes: z.int().nullable(),
  isFolder: z.boolean().default(false).describe('True for a folder, which goes with everything in it.'),
})

const foreseen = z
  .object({
    runs: z.int().describe('Runs that wait for the list; the first 20 are previewed.'),
    ahead: z.array(
      z.object({
        run: z.string(),
        effects: z.int().describe('Deletes and writes that the run would still ask for.'),
        bytes: z.int().describe('Of the files among them.'),
        list: z.array(foreseenEffect).describe('The first 200 of them, in their order.'),
        end: z.object({
          kind: z
            .enum(['completed', 'continued', 'failed', 'skipped', 'halted', 'open'])
            .describe('`open`: nobody knows what comes after the step.'),
          step: z.string().nullable(),
          reason: z.string().nullable(),
        }),
      }),
    ),
  })
  .meta({ id: 'Foreseen' })

/** An effect of a look ahead, and the run that would ask for it. */
const aheadEffect = foreseenEffect.extend({ run: z.string() }).meta({ id: 'AheadEffect' })

const aheadProgress = z
  .object({
    approved: z.int(),
    left: z.int().describe('Effects that no run has asked for yet.'),
    approvals: z.array(z.string()).describe('The lists that were approved, oldest first.'),
    latest: z.array(aheadEffect).describe('The effects of the newest of them.'),
    stopped: z.string().nullable().describe('Why it ended early; null: it goes on, or all are approved.'),
    held: z.string().nullable().describe('The list that it stopped at, which stays open.'),
    isOver: z.boolean(),
  })
  .meta({ id: 'AheadProgress' })

/** A vote as its person signs it; see `upshot approvers key`. */
const voter = {
  as: z.string().max(200).optional().describe('Decide as this registered approver.'),
  signature: z.base64().max(200).optional().describe('Ed25519 over the vote, in Base64.'),
  reason,
}

export const APPROVAL_ROUTES = defineRoutes({
  'GET /approvals': {
    id: 'listApprovals',
    summary: 'Lists of effects and questions that people decide, newest first',
    query: {
      status: z.enum(APPROVAL_STATUSES).optional().describe('Only approvals with this status.'),
      workflow: z.string().optional().describe('Only approvals of the workflow with this id.'),
      ...paging,
    },
    answer: pageOf(approval),
  },
  'GET /approvals/:id': {
    id: 'getApproval',
    summary: 'One approval, with its votes',
    answer: approval,
  },
  'GET /approvals/:id/items': {
    id: 'listApprovalItems',
    summary: 'The exact list of an approval, in its order, with the state that its runs saw',
    query: {
      limit: z.coerce.number().int().min(1).max(5_000).default(500).describe('The most items of one answer.'),
      after: paging.after,
      withQuestion: z.enum(['true']).optional().describe('With the question itself, as number 0.'),
    },
    answer: z.object({ items: z.array(approvalItem), next: z.string().nullable() }),
  },
  'POST /approvals/:id/look-ahead': {
    id: 'foreseeApproval',
    isSafe: true,
    summary: 'Previews how its runs go on, with real reads and no effect: what they would ask for after this list',
    answer: foreseen,
    audit: 'approval.foresee',
    isSearch: true,
  },
  'POST /approvals/:id/approve': {
    id: 'approveApproval',
    noTool: 'a decision of a person',
    summary: 'Lets exactly the list that a person saw begin, or the named part of it',
    body: {
      hash: z.string().max(64).describe('Hash of the last item that was seen, 8 digits at least.'),
      only: z.string().max(10_000).optional().describe('Numbers such as `1-40,45`; the rest stays open.'),
      answer: z.unknown().optional().describe('The answer to a question that asks for one.'),
      ...voter,
    },
    answer: decision,
    audit: 'approval.approve',
  },
  'POST /approvals/:id/approve-ahead': {
    id: 'approveAhead',
    noTool: 'a decision of a person',
    isDestructive: true,
    summary: 'Server-sent events: approves each list that its runs ask for next, while a look ahead showed all of it',
    body: {
      effects: z.array(aheadEffect).min(1).max(MAX_AHEAD).describe('The effects that the person saw, in their order.'),
    },
    answer: aheadProgress,
    form: 'events',
    audit: 'approval.approve-ahead',
  },
  'POST /approvals/:id/deny': {
    id: 'denyApproval',
    noTool: 'a decision of a person',
    summary: 'Its steps fail with the code `denied`; nothing of the list happens',
    body: z.strictObject({ hash: z.string().max(64).describe('Of the list, as `GET` has it.'), ...voter }),
    answer: decision,
    audit: 'approval.deny',
  },
})
