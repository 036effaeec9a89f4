import { z } from 'zod'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import type { SweepPlan } from '../../core/service/sweep/sweep-plan.ts'
import { durationSetting } from './duration-setting.ts'

/** The shortest time from one sweep to the next. */
const MIN_EVERY_MS = 60_000

/** A file that is gone is known for longer: see `retention.files`. */
const MAX_GRACE_MS = 30 * 24 * 60 * 60_000

/** A number is a share as in `0.1`, text one as in `10%`. */
const budget = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?%$/, 'must be a share such as "10%"')])
  .default('10%')
  .transform((given) => (typeof given === 'number' ? given : Number.parseFloat(given) / 100))
  .refine((share) => share >= 0.001 && share <= 1, 'must be a share from "0.1%" to "100%"')

const sweep = z.strictObject({
  path: z
    .string()
    .regex(/^\/(.*[^/])?$/, 'must begin with "/" and not end with one')
    .default('/'),
  recursive: z.boolean().default(true),
  every: durationSetting('6h').refine((ms) => ms >= MIN_EVERY_MS, 'must be at least 1m'),
  budget,
  grace: durationSetting('8h').refine((ms) => ms <= MAX_GRACE_MS, 'must be at most 30d'),
  repair: z.enum(['report', 'events']).default('report'),
})

const NAME = new RegExp(`^(?:[\\w.-]{1,100}/)?(?:${STORAGES.join('|')})$`)

/** Sweeps by storage, or by account and storage. */
export const reconcileConfig = z
  .record(
    z.string().regex(NAME, `must be ${STORAGES.join(', ')}, or one of an account such as "acme/storage_a"`),
    sweep,
  )
  .default({})
  .transform((plans) => Object.entries(plans).map(([name, plan]) => asPlan(name, plan)))

function asPlan(name: string, { every, grace, ...rest }: z.output<typeof sweep>): SweepPlan {
  const [storage = '', account = DEFAULT_ACCOUNT] = name.split('/').toReversed()
  return { account, storage: storage as StorageName, ...rest, everyMs: every, graceMs: grace }
}
