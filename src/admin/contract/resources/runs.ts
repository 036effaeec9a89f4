import { z } from 'zod'
import { RUN_ORIGINS, RUN_STATUSES } from '../../../core/runs/run.ts'
import { STEP_KINDS } from '../../../core/runs/step.ts'
import { dataNote, defineRoutes, isDryRun, moment, pageOf, paging, tag, time, usual } from '../route.ts'
import { failure } from './failures.ts'
import { outsideCall } from './safety/effects.ts'
import { hook } from './safety/hooks.ts'

export const run = z
  .object({
    id: z.string(),
    workflow: z.string(),
    status: z.enum(RUN_STATUSES),
    reason: z.string().nullable().describe('Why it waits, was skipped or was canceled, or how its plan ends.'),
    needsPerson: z.boolean().describe('True while only a person makes it go on.'),
    origin: z.enum(RUN_ORIGINS),
    originRun: z.string().nullable().describe('The run that it repeats, forks, continues, or follows the failure of.'),
    continuedBy: z.string().nullable().describe('The run that goes on in its place, by `step.continueAs`.'),
    handler: z.enum(['run', 'onFailure']),
    eventId: z.string().nullable(),
    eventType: z.string().nullable(),
    subject: z.string().nullable().describe('The file or transfer of its event; null for a viewer.'),
    account: z.string().describe('The account that it acts for.'),
    tickAt: time().nullable(),
    schedule: z.string().nullable().describe('Name of the schedule whose moment that is.'),
    parentRun: z.string().nullable(),
    parentStep: z.string().nullable(),
    attempt: z.int(),
    createdAt: time(),
    startedAt: time().nullable(),
    finishedAt: time().nullable(),
    dueAt: time().nullable().describe('When a waiting run goes on at the latest.'),
    deadline: time().nullable(),
    awaits: z.boolean().describe('True while an event or another run can wake it.'),
    isInLine: z.boolean().describe('True while it waits for a slot at a gate.'),
    isCanceledByRule: z.boolean(),
    foldedInto: z.string().nullable(),
    folded: z.int(),
    outputBytes: z
      .int()
      .nullable()
      .describe('Size of its output as JSON, which is the plan of a planned run; null: it has none.'),
    error: failure.nullable(),
    resolution: z
      .object({ by: z.string(), at: time(), reason: z.string() })
      .nullable()
      .describe('A word of a person that its failure needs nobody any more; a retry takes it back.'),
    tags: z.record(z.string(), z.string()).describe('By name; a viewer sees no values.'),
    progress: z
      .object({
        done: z.number(),
        total: z.number(),
        failed: z.number().describe('Parts that failed for good; they are not among those done.'),
        note: z.string().nullable().describe('Says what is counted.'),
        rate: z.number().nullable().describe('Parts per second by the last half minute.'),
        share: z.number().describe('The part that is over, from 0 to 1.'),
        leftMs: z.number().nullable().describe('Time left at this rate, in milliseconds.'),
        at: time().describe('When the run said so.'),
      })
      .nullable()
      .describe('How far it has come, by its own word; null where it says nothing.'),
  })
  .meta({ id: 'Run' })

export const step = z
  .object({
    key: z.string(),
    position: z.int().describe('Counted from 0 in the order in which the steps began.'),
    kind: z.enum(STEP_KINDS),
    effect: z.enum(['read', 'write', 'delete']),
    status: z.enum(['completed', 'failed', 'waiting', 'started']),
    attempt: z.int(),
    target: z.string().nullable(),
    startedAt: time(),
    finishedAt: time().nullable(),
    dueAt: time().nullable(),
    outputBytes: z.int().nullable(),
    error: failure.nullable(),
    failures: z.array(z.object({ attempt: z.int(), at: time(), error: failure })).describe('Failed attempts.'),
  })
  .meta({ id: 'Step' })

export const stepDetails = step.extend({
  output: z.unknown().describe('Its result; null where it has none, and above 64 KiB.'),
})

const output = z
  .object({
    bytes: z.int(),
    isWhole: z.boolean().describe('False: `text` holds the first 64 KiB, the rest is a download.'),
    value: z.unknown().describe('The value, where it is whole; masked by type for a viewer.'),
    text: z.string().nullable().describe('The first part as text, where it is not whole.'),
  })
  .meta({ id: 'Output' })

const related = z
  .object({
    parent: run.nullable(),
    origin: run.nullable(),
    absorber: run.nullable().describe('The run that this one was folded into in the end.'),
    invoked: z.array(run),
    derived: z.array(run).describe('Replays, forks, successors, and runs of `onFailure`.'),
    chain: z.array(run).describe('The runs of its chain by `step.continueAs`, oldest first; empty without one.'),
    ofEvent: z.array(run).describe('Other runs of its event.'),
    question: z.string().nullable().describe('The approval of the question for whose answer it waits.'),
  })
  .meta({ id: 'RelatedRuns' })

/** The filters of runs, in queries and in bulk operations. */
export const runFilter = {
  q: z.string().max(500).optional().describe('Words and filters, such as `status:failed workflow:x since:2h`.'),
  status: z.enum(RUN_STATUSES).optional().describe('Only runs with this status.'),
  needsPerson: z.enum(['true']).optional().describe('Only runs that a person must let go on.'),
  workflow: z.string().optional().describe('Only runs of the workflow with this id.'),
  event: z.string().optional().describe('Only runs caused by the event with this id, or its beginning.'),
  tag: tag.optional(),
  origin: z.enum(RUN_ORIGINS).optional().describe('Only runs that were made this way.'),
  parent: z.string().optional().describe('Only runs that the run with this id invoked.'),
  error: z.string().max(500).optional().describe('Text of the error of failed runs.'),
  step: z.string().optional().describe('Key or name of the failed step.'),
  group: z.string().optional().describe('Id of a kind of failure, `grp_…`.'),
  resolved: z
    .enum(['true', 'false'])
    .optional()
    .describe('Failed runs that a person has resolved, or those that nobody has.'),
  since: moment.optional(),
  until: moment.optional(),
}

const moments = z.object({ id: z.string(), status: z.enum(RUN_STATUSES), createdAt: time() })

const runDetails = z
  .object({
    ...run.shape,
    output: z.unknown().describe('Its output, or the plan of a planned run; null above 64 KiB.'),
    event: z
      .object({
        id: z.string(),
        account: z.string(),
        type: z.string(),
        receivedAt: time(),
        data: z.unknown().describe('Null once it is pruned, and above 64 KiB.'),
        dataNote,
      })
      .nullable()
      .describe('The event that caused it.'),
    steps: z.array(stepDetails).describe('In the order in which they began, with their failed attempts.'),
    stepsInAll: z.int(),
    hooks: z.array(hook).describe('The callback URLs that it has opened.'),
    log: z
      .array(z.object({ number: z.int(), at: time(), level: z.string(), message: z.string(), facts: z.unknown() }))
      .describe('Its newest log lines; none for a viewer.'),
    outside: z.array(outsideCall).describe('Calls past the guard and the ledger, oldest first, 50 at most.'),
    chain: z
      .array(moments.extend({ startedAt: time().nullable(), finishedAt: time().nullable() }))
      .describe('The runs of its chain by `step.continueAs`; empty without one.'),
    children: z
      .array(moments.extend({ workflow: z.string(), origin: z.enum(RUN_ORIGINS), handler: z.string() }))
      .describe('Replays, forks, successors and runs of `onFailure`, newest first, 100 at most.'),
  })
  .meta({ id: 'RunDetails' })

export const RUN_ROUTES = defineRoutes({
  'GET /runs': {
    id: 'listRuns',
    summary: 'Runs, newest first',
    query: {
      ...runFilter,
      withoutSkipped: z.enum(['true']).optional().describe('No runs that were skipped.'),
      ...paging,
    },
    answer: pageOf(run),
    isSearch: true,
  },
  'GET /runs/:id': { id: 'getRun', summary: 'One run', answer: run },
  'GET /runs/:id/details': {
    id: 'getRunDetails',
    summary: 'Why a run is as it is: its event, steps with results and failed attempts, log, and later runs',
    query: {
      steps: z.coerce.number().int().min(1).max(100_000).default(1_000).describe('Steps to tell.'),
    },
    answer: runDetails,
  },
  'GET /runs/:id/usual': {
    id: 'getUsualTimes',
    summary: 'What is usual for the workflow of a run: of its newest completed runs, 20 at most',
    answer: z.object({
      runs: z.int().describe('Completed runs that were looked at.'),
      run: usual.nullable().describe('From start to end; null without such runs.'),
      steps: z
        .array(z.object({ name: z.string(), ...usual.shape }))
        .describe('By the name of the step, without its key.'),
    }),
  },
  'GET /runs/:id/steps': {
    id: 'listSteps',
    summary: 'The steps of a run with their failed attempts, in the order in which they began',
    query: {
      limit: z.coerce.number().int().min(1).max(5_000).default(1_000).describe('The most steps of one answer.'),
      after: paging.after,
    },
    answer: z.object({ items: z.array(step), next: z.string().nullable(), total: z.int() }),
  },
  'GET /runs/:id/steps/:key/output': {
    id: 'getStepOutput',
    summary: 'The result of a step: whole up to 64 KiB, else its first part',
    answer: output,
  },
  'GET /runs/:id/output': {
    id: 'getRunOutput',
    summary: 'The output of a run: whole up to 64 KiB, else its first part',
    answer: output,
  },
  'GET /runs/:id/source': {
    id: 'readSource',
    role: 'operator',
    summary: 'The code around the frames of an error, of modules in the folder of the workflows',
    query: { step: z.string().optional().describe('Key of a step; left out: the error of the run.') },
    answer: z.object({
      items: z
        .array(
          z.object({
            frame: z.string().describe('As the error has it.'),
            file: z.string().describe('Below the folder of the workflows.'),
            line: z.int().describe('The line of the frame.'),
            from: z.int().describe('The number of the first line that is given.'),
            lines: z.array(z.string()),
            isChanged: z.boolean().describe('True: the file was changed after the error.'),
          }),
        )
        .describe('Frames whose module is at hand, innermost first.'),
    }),
  },
  'GET /runs/:id/related': {
    id: 'listRelatedRuns',
    summary: 'The runs that caused this one, and those that it caused',
    answer: related,
  },
  'POST /runs/:id/cancel': {
    id: 'cancelRun',
    isDestructive: true,
    summary: 'Cancels a run and the runs that it invoked; the worker stops it within 50 ms',
    body: { isDryRun },
    answer: run,
    audit: 'run.cancel',
  },
  'POST /runs/:id/retry': {
    id: 'retryRun',
    summary: 'Continues a failed or canceled run from the step that failed, under the same id',
    body: { isDryRun },
    answer: run,
    audit: 'run.retry',
  },
  'POST /runs/:id/resolve': {
    id: 'resolveRun',
    summary: 'Marks a failed run as resolved: its failure needs nobody any more, until it is retried',
    body: {
      isDryRun,
      reason: z.string().min(1).max(500).describe('Kept with the run and in the audit log.'),
    },
    answer: run,
    audit: 'run.resolve',
  },
  'POST /runs/:id/unresolve': {
    id: 'unresolveRun',
    summary: 'Takes back that a run is resolved',
    body: { isDryRun },
    answer: run,
    audit: 'run.unresolve',
  },
  'POST /runs/:id/resume': {
    id: 'resumeRun',
    isDestructive: true,
    summary: 'Continues a run that waits for a person',
    body: {
      fromScratch: z.boolean().default(false).describe('Deletes its journal first: effects are repeated.'),
      skipSleep: z
        .boolean()
        .default(false)
        .describe('Ends the sleep of a run, or the pause before the next attempt of a step.'),
      isDryRun,
    },
    answer: run,
    audit: 'run.resume',
  },
  'POST /runs/:id/fork': {
    id: 'forkRun',
    summary: 'A new run with the same cause, which keeps the results before a step',
    body: {
      fromStep: z.string().min(1).describe('Key of the first step to run again.'),
      output: z.unknown().optional().describe('Result to use for that step in place of running it.'),
    },
    answer: run,
    audit: 'run.fork',
    isIdempotent: true,
  },
})
