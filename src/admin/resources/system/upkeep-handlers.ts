import { UpshotError } from '../../../core/errors.ts'
import { PRUNE_KINDS } from '../../../core/store/retention.ts'
import { isoTime } from '../../../core/time.ts'
import type { UPKEEP_ROUTES } from '../../contract/resources/system/upkeep.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { ResourceParts } from '../parts.ts'

/** The settings and the health of the installation, and the removal of old data. */
export function upkeepHandlers({ surroundings }: ResourceParts): Handlers<keyof typeof UPKEEP_ROUTES> {
  const { settings, retention, foreseePrune, prune, examine, ...database } = surroundings
  let isPruning = false
  let foreseen: ReturnType<typeof foreseePrune> | null = null
  return {
    'GET /config': async () => ({ items: settings() }),
    async 'POST /doctor'({ record, signal }) {
      await record(null)
      const findings = await examine(signal)
      return { isHealthy: findings.every(({ level }) => level !== 'fail'), findings }
    },
    async 'POST /database/verify'({ record, ...work }) {
      await record(null)
      return database.verifyDatabase(work)
    },
    async 'POST /database/backup'({ record, ...work }) {
      await record(null)
      return database.backUp(work)
    },
    'GET /database/backups/:name': ({ params }) => database.openBackup(params.name),
    async 'GET /retention'({ now }) {
      const ages = retention()
      const items = PRUNE_KINDS.map((kind) => {
        const ageMs = ages[kind]
        return { kind, ageMs, before: ageMs === null ? null : isoTime(now - ageMs) }
      })
      return { items, isPruning }
    },
    async 'GET /retention/prunable'() {
      // Several askers share one answer.
      foreseen ??= foreseePrune().finally(() => {
        foreseen = null
      })
      const forecast = await foreseen
      return { items: PRUNE_KINDS.flatMap((kind) => (forecast[kind] === null ? [] : [{ kind, ...forecast[kind] }])) }
    },
    async 'POST /retention/prune'({ record, tell }) {
      if (isPruning)
        throw new UpshotError('conflict', 'A prune is under way already.', { details: { fix: 'Wait for its end.' } })
      isPruning = true
      try {
        await record(null, { ...retention() })
        return { pruned: await prune((done) => tell({ done, total: null })) }
      } finally {
        isPruning = false
      }
    },
  }
}
