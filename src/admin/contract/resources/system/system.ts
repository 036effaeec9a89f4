import { z } from 'zod'
import { RUN_STATUSES } from '../../../../core/runs/run.ts'
import { EFFECTS_MODES } from '../../../../core/safety/stop.ts'
import { WEEK_KINDS } from '../../../../core/store/retention.ts'
import { defineRoutes, time } from '../../route.ts'

const bounded = z.object({ count: z.int(), isMore: z.boolean().describe('True where counting stopped at 100,000.') })

const hour = z
  .object({
    at: time().describe('Beginning of the hour in which the runs were made.'),
    workflow: z.string(),
    status: z.enum(RUN_STATUSES),
    runs: z.int(),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
  })
  .meta({ id: 'RunHour' })

const overview = z
  .object({
    failed: bounded.describe('Runs made in the last 24 h that have failed, and that nobody has resolved.'),
    forPerson: bounded.describe('Runs that only a person lets go on.'),
    pending: bounded,
    running: bounded,
    oldestPendingAt: time().nullable(),
    approvals: z
      .object({ open: z.int(), effects: z.int() })
      .describe('Open approvals, 100 at most, and their effects.'),
    stops: z.int().describe('Stops of effects in force.'),
    alerts: z
      .object({ open: z.int(), newest: z.string().nullable().describe('Title of the one that began last.') })
      .describe('Open topics of the alert rules.'),
    pausedWorkflows: z.array(z.string()),
    missedTicks: z.array(z.object({ workflow: z.string(), missed: z.int() })),
    upNext: z
      .array(z.object({ schedule: z.string(), workflow: z.string(), at: time() }))
      .describe('At most 5, soonest first.'),
    received: z
      .object({ accepted: z.int(), duplicate: z.int(), conflict: z.int(), refused: z.int() })
      .describe('Deliveries of the last 24 h that left a row, without our own probes.'),
    hours: z.array(hour).describe('The last 24 h, the present hour included.'),
  })
  .meta({ id: 'Overview' })

const room = z
  .object({
    tables: z
      .array(z.object({ table: z.string(), bytes: z.int() }))
      .describe('The 12 largest, with weeks, indexes and long values.'),
    weeks: z.array(
      z.object({
        kind: z.enum(WEEK_KINDS),
        kept: z.int().describe('Weeks that have begun and are not removed.'),
        until: time().nullable().describe('From then on, new rows have no week of their own.'),
        next: z
          .object({ from: time(), bytes: z.int(), goesAt: time().nullable().describe('Null: it is kept for ever.') })
          .nullable()
          .describe('The oldest week, which goes next; null while there is only the present one.'),
      }),
    ),
  })
  .meta({ id: 'ServerRoom' })

const sweep = z.object({
  account: z.string(),
  storage: z.string(),
  complete: z.object({ startedAt: time(), endedAt: time() }).nullable().describe('The last complete sweep.'),
  fault: z.string().nullable().describe('Why the last sweep that ended is not complete.'),
  lost: z.int().describe('Events of the last seven days that were lost.'),
  made: z.int().describe('Those among them that were made up.'),
  held: z.int().describe('Lost events that wait for people, whatever their age.'),
  underWay: z
    .object({
      phase: z.enum(['listing', 'judging']).describe('Of a sweep: it reads pages, then asks for files one by one.'),
      seen: z.int().describe('Entries that it has read.'),
      total: z.int().nullable().describe('Entries that the service says there are; null where it does not say.'),
    })
    .nullable()
    .describe('The sweep that is at work; null: none is.'),
})

const system = z
  .object({
    isReady: z.boolean(),
    checks: z.record(z.string(), z.string()).describe('`ok` or the fault, by the name of the check.'),
    warnings: z.array(z.string()).describe('Faults of this process for a person to mend, though it is ready.'),
    processes: z.array(
      z.object({
        id: z.string(),
        role: z.string(),
        pid: z.int(),
        version: z.string(),
        adminUrl: z.string(),
        receiverUrl: z.string().nullable(),
        startedAt: time(),
        seenAt: time(),
        broken: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Modules that it could not load.'),
        isSilent: z.boolean().describe('True when it has said nothing for 35 s.'),
      }),
    ),
    effects: z.enum(EFFECTS_MODES).describe('`plan`: runs are only planned, and nothing acts.'),
    sandboxUrl: z
      .string()
      .nullable()
      .describe('Address of the account pages of the sandbox; null where there is none.'),
    blockedKeys: z
      .array(z.object({ account: z.string(), key: z.string().describe('Its last four characters.'), until: time() }))
      .describe('Keys that the service told to wait: nothing is sent with them until then.'),
    sweeps: z.array(sweep).describe('How the sweeps of each storage stand.'),
    databaseBytes: z.int(),
    logBytes: z.int().describe('0 where the database is on a server.'),
    diskFreeBytes: z.int().describe('Of the data directory, which a server does not use.'),
    room: room.nullable().describe('Null where the database is a file.'),
  })
  .meta({ id: 'System' })

export const SYSTEM_ROUTES = defineRoutes({
  'GET /overview': {
    id: 'getOverview',
    summary: 'What needs a person now, and the last 24 hours',
    answer: overview,
  },
  'GET /system': {
    id: 'getSystem',
    summary: 'Health, processes, database and disk',
    answer: system,
  },
})
