import { z } from 'zod'
import { MIN_CHARACTERS } from '../../../../core/safety/create-eraser.ts'
import { defineRoutes, isDryRun } from '../../route.ts'

const words = {
  kind: z.enum(['text', 'path']).describe('A text anywhere, in any case; or a file, or a folder and all below it.'),
  text: z.string().min(MIN_CHARACTERS).max(4_096).describe('Such as `Anna Meier`, or `/in/anna`.'),
}

const report = {
  places: z.array(z.object({ table: z.string(), column: z.string(), rows: z.int() })),
  rows: z.int().describe('Rows that have it.'),
  searched: z.int().describe('Rows that were looked at.'),
  neededBy: z.array(z.string()).describe('Unfinished runs, schedules and operations that need such a row.'),
}

export const PRIVACY_ROUTES = defineRoutes({
  'POST /privacy/find': {
    id: 'findWords',
    isSafe: true,
    summary: 'Where a text or a path is in the database: its tables and columns, with counts of rows',
    role: 'admin',
    body: words,
    answer: z.object(report),
    audit: 'privacy.find',
    isSearch: true,
    tellsProgress: true,
  },
  'POST /privacy/erase': {
    id: 'eraseWords',
    isDestructive: true,
    summary:
      'Erases a text or a path from the database for good; the answer comes at its end, ' +
      'and it goes on without the asker',
    role: 'admin',
    body: { ...words, cancelRuns: z.boolean().default(false).describe('Cancels the runs that need it.'), isDryRun },
    answer: z.object({ ...report, erased: z.int(), canceled: z.array(z.string()).describe('Runs.') }),
    audit: 'privacy.erase',
    isSearch: true,
    tellsProgress: true,
  },
})
