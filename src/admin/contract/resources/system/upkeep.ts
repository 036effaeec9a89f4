import { z } from 'zod'
import { PRUNE_KINDS } from '../../../../core/store/retention.ts'
import { type RouteTable, reason, time } from '../../route.ts'

export const UPKEEP_ROUTES = {
  'GET /config': {
    id: 'listSettings',
    tag: 'system',
    summary: 'The settings that this process runs with; never a key, a secret or the address of a channel',
    role: 'operator',
    answer: z.object({ items: z.array(z.object({ setting: z.string(), value: z.string() })) }),
  },
  'GET /retention': {
    id: 'listRetention',
    tag: 'system',
    summary: 'The age at which each kind of data goes',
    role: 'viewer',
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
  'POST /retention/prune': {
    id: 'prune',
    tag: 'system',
    summary: 'Removes old data now, in small commits; the answer comes at its end, and it goes on without the asker',
    role: 'admin',
    body: z.strictObject({ reason }),
    answer: z.object({ pruned: z.record(z.enum(PRUNE_KINDS), z.int()) }),
    audit: 'db.prune',
  },
} as const satisfies RouteTable
