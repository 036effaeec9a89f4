import { UpshotError } from '../../../core/errors.ts'
import { PRUNE_KINDS } from '../../../core/store/retention.ts'
import { isoTime } from '../../../core/time.ts'
import type { UPKEEP_ROUTES } from '../../contract/resources/system/upkeep.ts'
import type { Handlers } from '../../http/handler.ts'
import { type ResourceParts, recordAction } from '../parts.ts'

/** The settings of the process, and the removal of old data. */
export function upkeepHandlers(parts: ResourceParts): Handlers<keyof typeof UPKEEP_ROUTES> {
  const { settings, retention, prune } = parts.surroundings
  let isPruning = false
  return {
    'GET /config': async () => ({ items: settings() }),
    async 'GET /retention'({ now }) {
      const ages = retention()
      const items = PRUNE_KINDS.map((kind) => {
        const ageMs = ages[kind]
        return { kind, ageMs, before: ageMs === null ? null : isoTime(now - ageMs) }
      })
      return { items, isPruning }
    },
    async 'POST /retention/prune'({ caller, body }) {
      if (isPruning) throw new UpshotError('conflict', 'A prune is under way already.')
      isPruning = true
      try {
        const parameters = { ...retention() }
        await recordAction(parts, { caller, body }, { action: 'db.prune', target: null, parameters }, 'begun')
        return { pruned: await prune() }
      } finally {
        isPruning = false
      }
    },
  }
}
