import { z } from 'zod'
import { EFFECTS_MODES } from '../../../../core/safety/stop.ts'
import { defineRoutes, isDryRun, moment, pageOf, paging, reasonText, time } from '../../route.ts'

const PHASES = ['begun', 'ended', 'done', 'decided', 'switched', 'noted'] as const

/** A call of author code that went past the guard. */
export const outsideCall = z.object({
  at: time(),
  call: z.string(),
  where: z.string().nullable(),
  host: z.string().nullable(),
  step: z.string().nullable(),
  place: z.string().nullable(),
})

export const effect = z
  .object({
    seq: z.int(),
    at: time(),
    phase: z.enum(PHASES).describe('A delete has `begun` and `ended`; a write has one row, `done`.'),
    ofSeq: z.int().nullable().describe('The row in which an ended effect began.'),
    class: z.enum(['delete', 'write', 'guard']),
    operation: z.string(),
    account: z.string().nullable(),
    target: z.string().nullable(),
    path: z.string().nullable().describe('Null for a viewer, who sees no payload.'),
    bytes: z.int().nullable(),
    workflow: z.string().nullable(),
    runId: z.string().nullable(),
    step: z.string().nullable(),
    eventId: z.string().nullable().describe('The event that caused its run.'),
    code: z.string().nullable().describe('Hash of the code that ran.'),
    approval: z.string().nullable(),
    actor: z.string().nullable(),
    asked: z.unknown().describe('The state in which the run saw the file; null for a viewer.'),
    expect: z.unknown().describe('The state that a begun delete requires; null for a viewer.'),
    before: z.unknown().describe('The state that an ended delete found; null for a viewer.'),
    outcome: z.string().nullable(),
    proof: z.string().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Effect' })

const effectDetails = effect.extend({
  votes: z
    .array(z.object({ actor: z.string(), verdict: z.string(), reason: z.string().nullable() }))
    .describe('Words of people under which it began.'),
})

const scope = z.object({
  kind: z.enum(['all', 'workflow', 'account', 'storage']).describe('The kind of scope that it covers.'),
  name: z.string().max(200).describe('Of the workflow, account or storage; empty for `all`.'),
})

const stop = z.object({ ...scope.shape, since: time(), actor: z.string(), reason: z.string() }).meta({ id: 'Stop' })

const guard = z
  .object({
    isOn: z.boolean(),
    use: z.array(
      z.object({
        scope: z.string().describe('Such as `all` or `workflow/tidy`.'),
        class: z.enum(['delete', 'write', 'approved']).describe('`approved`: by a person; it fills no window.'),
        window: z.enum(['hour', 'day']),
        count: z.int(),
        bytes: z.int(),
        limit: z.int().nullable().describe('Of the project; a workflow may have limits of its own.'),
      }),
    ),
    stops: z.array(stop).describe('Stops in force: no delete that one covers begins.'),
    woken: z.int().describe('Runs that an end of a stop has just woken.'),
  })
  .meta({ id: 'Guard' })

const effectFilter = {
  workflow: z.string().optional().describe('Only effects of the workflow with this id.'),
  account: z.string().optional().describe('Only effects on this account.'),
  run: z.string().optional().describe('Only effects of the run with this id, or its beginning.'),
  target: z.string().optional().describe('Such as `storage_a:fil_1`.'),
  path: z.string().optional().describe('Path of a deleted file; needs the role operator.'),
  class: z.enum(['delete', 'write', 'guard']).optional().describe('Only deletes, writes, or decisions of people.'),
  outcome: z.string().optional().describe('Such as `deleted`, `changed` or `failed`.'),
  since: moment.optional(),
  until: moment.optional(),
}

export const anchor = z
  .object({
    seal: z.int().positive(),
    last: z.int().nonnegative().describe('The newest row that it covers.'),
    at: time(),
    mac: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .describe('Keep it outside of the database.')

const ledgerReport = z
  .object({
    passed: z.boolean(),
    effects: z.int().describe('Rows that are there.'),
    sealed: z.int().describe('Those that a seal covers.'),
    seals: z.int(),
    erased: z.int().describe('Rows of which people erased text; the rest of each is as it was sealed.'),
    prunedTo: z.int().describe('Rows up to this one may be missing, because retention removed them.'),
    anchors: z.int().describe('Anchors that were looked for.'),
    anchored: anchor.nullable().describe('The newest one that the chain contains; null: an end may be cut off.'),
    sinceAnchor: z.int().describe('Sealed rows after that anchor.'),
    restored: z.array(z.object({ seal: z.int(), at: time(), note: z.string() })),
    words: z.int().describe('Words of people on approvals.'),
    signedWords: z.int().describe('Those with a good signature.'),
    signers: z.array(z.object({ name: z.string(), key: z.string(), words: z.int() })),
    granted: z.int().describe('Effects that began by an approval.'),
    grantedUnsigned: z.int().describe('Those whose words nobody signed.'),
    faults: z.array(z.string()).describe('The first 20, as sentences.'),
    faultCount: z.int(),
  })
  .meta({ id: 'LedgerReport' })

export const EFFECT_ROUTES = defineRoutes({
  'GET /effects': {
    id: 'listEffects',
    summary: 'The effect ledger, newest first: who did what to which file, by whose word',
    query: { ...effectFilter, ...paging },
    answer: pageOf(effect).extend({ mode: z.enum(EFFECTS_MODES).describe('`plan`: nothing acts here now.') }),
    isSearch: true,
  },
  'GET /effects/export': {
    id: 'exportEffects',
    noTool: 'bytes',
    summary: 'The whole ledger as lines of JSON, oldest first',
    role: 'operator',
    query: effectFilter,
    answer: z.unknown(),
    form: 'bytes',
    isSearch: true,
  },
  'GET /effects/of-file': {
    id: 'listEffectsOfFile',
    summary: 'Everything that was done to a file, oldest first: also under other paths that it had',
    role: 'operator',
    query: {
      file: z.string().max(4_096).describe('A path such as `/out/a.mov`, or a target such as `storage_a:fil_1`.'),
    },
    answer: z.object({ items: z.array(effectDetails) }),
  },
  'GET /effects/:seq': {
    id: 'getEffect',
    summary: 'One row of the ledger',
    answer: effectDetails.extend({ isSealed: z.boolean() }),
  },
  'GET /guard': {
    id: 'getGuard',
    summary: 'What counts against the limits of deletes now, and the stops in force',
    answer: guard,
  },
  'GET /guard/suggestions': {
    id: 'suggestLimits',
    summary: 'Limits for each workflow that deletes: twice the 99th percentile of what it did',
    query: { since: moment.default('14d') },
    answer: z.object({
      items: z.array(
        z.object({
          workflow: z.string(),
          deletes: z.int().describe('Deletes since then.'),
          perRun: z.int(),
          perHour: z.int(),
          perDay: z.int(),
        }),
      ),
    }),
    isSearch: true,
  },
  'POST /effects/anchor': {
    id: 'anchorEffects',
    summary: 'Seals the ledger, and appends the end of its chain to the anchor file of the server, if one is set',
    role: 'admin',
    body: { isDryRun },
    answer: anchor,
    audit: 'effects.anchor',
  },
  'POST /effects/verify': {
    id: 'verifyEffects',
    isSafe: true,
    summary: 'Follows the seals of the whole ledger, and looks for its anchors',
    body: {
      anchors: z
        .array(anchor)
        .max(2_000)
        .optional()
        .describe('Anchors that you kept; default: those in the anchor file of the server.'),
    },
    answer: ledgerReport,
    audit: 'effects.verify',
    isSearch: true,
    tellsProgress: true,
  },
  'POST /effects/restored': {
    id: 'noteRestored',
    noTool: 'a decision of a person',
    summary: 'Says that the database was restored from a backup, so that the chain accepts older anchors',
    role: 'admin',
    body: { reason: reasonText.min(1).describe('Every verification shows it.') },
    answer: z.object({ seal: z.int() }),
    audit: 'effects.restored',
  },
  'POST /effects/stop': {
    id: 'stopEffects',
    summary: 'From its commit on, no delete and no `once` step of the scope begins, in any process',
    body: { ...scope.shape, reason: reasonText.min(1).describe('Its runs show it.') },
    answer: guard,
    audit: 'effects.stop',
  },
  'POST /effects/resume': {
    id: 'resumeEffects',
    isDestructive: true,
    summary: 'Ends a stop and wakes the runs that it holds',
    body: { ...scope.shape, reason: z.string().max(500).optional().describe('Kept in the audit log.') },
    answer: guard,
    audit: 'effects.resume',
  },
})
