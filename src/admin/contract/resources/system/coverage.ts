import { z } from 'zod'
import { RUN_STATUSES } from '../../../../core/runs/run.ts'
import { STORAGES } from '../../../../core/service/storage.ts'
import { FINDING_STATES } from '../../../../core/service/sweep/judge-file.ts'
import { defineRoutes, moment, time } from '../../route.ts'

const storage = z.object({
  account: z.string(),
  storage: z.enum(STORAGES),
  known: z.int().describe('Files that are not gone.'),
  arrived: z.int().describe('Files first seen since then, and behind the first complete sweep.'),
  arrivedReported: z.int().describe('Those of which an event told.'),
  gone: z.int().describe('Files proven to be gone since then.'),
  goneReported: z.int(),
  sweep: z.object({
    number: z.int(),
    phase: z.enum(['idle', 'listing', 'judging']),
    baseline: z.int().nullable().describe('Number of the first complete sweep; null before its end.'),
    ended: z.object({ at: time(), fault: z.string().nullable() }).nullable().describe('The last one that ended.'),
  }),
})

const finding = z.object({
  account: z.string(),
  storage: z.enum(STORAGES),
  file: z.string(),
  path: z.string(),
  type: z.string().describe('Of the event that is missing.'),
  state: z.enum(FINDING_STATES),
  sweep: z.int().describe('Number of the sweep that found it.'),
  foundAt: time(),
  reason: z.string().nullable(),
  approval: z.string().nullable(),
  event: z.string().nullable().describe('The event that was made up.'),
  lateEvent: z.string().nullable().describe('The real event, which came later.'),
})

const coverage = z
  .object({
    since: time(),
    storages: z.array(storage).describe('Those that are swept.'),
    findings: z.array(finding).describe('Files of which no event told, 10,000 at most.'),
    types: z.array(z.object({ type: z.string(), events: z.int(), madeUp: z.int(), unmatched: z.string().nullable() })),
    runs: z.array(
      z.object({
        workflow: z.string(),
        runs: z.int(),
        statuses: z.partialRecord(z.enum(RUN_STATUSES), z.int()),
        failed: z.array(z.string()).describe('Ids of the newest ones that failed, 20 at most.'),
      }),
    ),
    deletes: z.object({ begun: z.int(), outcomes: z.record(z.string(), z.int()) }),
    lookedUp: z
      .object({ asked: z.int(), there: z.array(z.string()) })
      .nullable()
      .describe('Deleted files that the service was asked for, and those that it has.'),
    transfers: z
      .object({ listed: z.int(), unreported: z.array(z.string()).describe('Ids of which no event told.') })
      .nullable(),
    unknowable: z.array(z.string()).describe('Losses that cannot be found, in words.'),
  })
  .meta({ id: 'Coverage' })

export const COVERAGE_ROUTES = defineRoutes({
  'POST /coverage': {
    id: 'compareCoverage',
    isSafe: true,
    summary: 'Compares files, events, runs and effects, and names what does not fit',
    body: {
      since: moment.default('30d'),
      storage: z.enum(STORAGES).optional().describe('Only this storage.'),
      wait: z.boolean().default(false).describe('First waits for the end of the sweeps that are under way.'),
      lookUp: z.int().min(0).max(1_000).default(0).describe('Deleted files to ask the service for.'),
      transfers: z.array(z.string().max(200)).optional().describe('Ids of transfers of which events should tell.'),
    },
    answer: coverage,
    audit: 'coverage.read',
    isSearch: true,
    tellsProgress: true,
  },
})
