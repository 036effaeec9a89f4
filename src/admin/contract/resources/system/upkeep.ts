import { z } from 'zod'
import { PRUNE_KINDS } from '../../../../core/store/retention.ts'
import { defineRoutes, time } from '../../route.ts'
import { anchor } from '../safety/effects.ts'

const rows = z.record(z.string(), z.int()).describe('Rows by table.')

export const UPKEEP_ROUTES = defineRoutes({
  'GET /config': {
    id: 'listSettings',
    summary: 'The settings that this process runs with; never a key, a secret or the address of a channel',
    role: 'operator',
    answer: z.object({ items: z.array(z.object({ setting: z.string(), value: z.string() })) }),
  },
  'POST /doctor': {
    id: 'examine',
    isSafe: true,
    summary: 'Checks machine, database, endpoints and service, as `upshot doctor` does; takes some seconds',
    answer: z.object({
      isHealthy: z.boolean().describe('False where a check fails.'),
      findings: z.array(
        z.object({
          check: z.string(),
          level: z.enum(['ok', 'warn', 'fail']),
          found: z.string(),
          fix: z.string().nullable().describe('Advice, as a sentence.'),
        }),
      ),
    }),
    audit: 'doctor.run',
    isSearch: true,
  },
  'POST /database/verify': {
    id: 'verifyDatabase',
    isSafe: true,
    summary: 'Checks the whole database, and the chain over its effect ledger; it reads every table',
    role: 'admin',
    answer: z
      .object({
        file: z.string().describe('Path of the file; host, database and schema of PostgreSQL.'),
        passed: z.boolean(),
        checks: z.array(z.object({ name: z.string(), passed: z.boolean(), found: z.string() })),
        rows,
      })
      .meta({ id: 'DatabaseReport' }),
    audit: 'db.verify',
    isSearch: true,
    tellsProgress: true,
  },
  'POST /database/backup': {
    id: 'backUpDatabase',
    noTool: 'bytes',
    summary:
      'Copies the database file beside it, and checks the copy; it goes once fetched, or a day later with the next',
    role: 'admin',
    answer: z.object({
      backup: z.string().describe('Its name, for `GET /database/backups/:name`.'),
      bytes: z.int(),
      sha256: z.string(),
      rows,
      anchor: anchor.nullable().describe('The end of its effect ledger; null where that is empty.'),
    }),
    audit: 'db.backup',
    tellsProgress: true,
  },
  'GET /database/backups/:name': {
    id: 'fetchBackup',
    noTool: 'bytes',
    summary: 'The bytes of a backup, which is removed once they were all sent; without the key of its secrets',
    role: 'admin',
    answer: z.unknown(),
    form: 'bytes',
  },
  'GET /retention': {
    id: 'listRetention',
    summary: 'The age at which each kind of data goes',
    answer: z.object({
      items: z.array(
        z.object({
          kind: z.enum(PRUNE_KINDS),
          ageMs: z.number().nullable().describe('Null: it is kept for ever.'),
          before: time().nullable().describe('A prune now would remove what is older than this.'),
        }),
      ),
      isPruning: z.boolean().describe('True while a prune that a person asked this process for is under way.'),
    }),
  },
  'GET /retention/prunable': {
    id: 'countPrunable',
    summary: 'What a prune now would remove: up to 100,000 rows of each kind are counted, the oldest first',
    role: 'admin',
    answer: z.object({
      items: z.array(
        z.object({
          kind: z.enum(PRUNE_KINDS).describe('One that is not kept for ever.'),
          rows: z
            .int()
            .describe(
              'Runs, deliveries, bodies or rows that would go; 100,001 at most. Operations on many runs go with ' +
                '`audit`, and findings of lost events with `files`: they are not counted.',
            ),
          isComplete: z.boolean().describe('False: the count ended at its limit, and more may go.'),
          bytes: z.number().nullable().describe('Size of the bodies among them; null for other kinds.'),
          weeks: z
            .object({ count: z.int(), bytes: z.number() })
            .nullable()
            .describe('Weeks of PostgreSQL that go at once, with their size on disk; null: rows go one by one.'),
        }),
      ),
    }),
    isSearch: true,
  },
  'POST /retention/prune': {
    id: 'prune',
    isDestructive: true,
    summary: 'Removes old data now, in small commits; the answer comes at its end, and it goes on without the asker',
    role: 'admin',
    answer: z.object({ pruned: z.record(z.enum(PRUNE_KINDS), z.int()) }),
    audit: 'db.prune',
    tellsProgress: true,
  },
})
