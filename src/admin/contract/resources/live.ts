import { z } from 'zod'
import { defineRoutes } from '../route.ts'

export const LIVE_ROUTES = defineRoutes({
  'GET /live': {
    id: 'listen',
    noTool: 'session',
    summary: 'Server-sent events: hello, changed (topics, runs), operation (progress) and bye; never content',
    answer: z.unknown(),
    form: 'events',
  },
})
