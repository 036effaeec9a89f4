import { z } from 'zod'
import { defineRoutes, pageOf, paging } from '../route.ts'
import { event } from './events.ts'
import { run } from './runs.ts'
import { effect } from './safety/effects.ts'

const item = z.object({ event, runs: z.array(run).describe('Runs of the event, 20 at most.') })

export const SUBJECT_ROUTES = defineRoutes({
  'GET /subjects/:subject': {
    id: 'getSubject',
    summary: 'The history of a file, a path or a transfer: its events with their runs, newest first, and its effects',
    role: 'operator',
    query: paging,
    answer: pageOf(item).extend({
      effects: z.array(effect).describe('Newest first, 200 at most; on the first page only.'),
    }),
    isSearch: true,
  },
})
