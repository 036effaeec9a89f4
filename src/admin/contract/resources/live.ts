import { z } from 'zod'
import type { RouteTable } from '../route.ts'

export const LIVE_ROUTES = {
  'GET /live': {
    id: 'listen',
    noTool: 'session',
    summary: 'Server-sent events: hello, changed (topics, runs), operation (progress) and bye; never content',
    role: 'viewer',
    answer: z.unknown(),
    form: 'events',
  },
} as const satisfies RouteTable
