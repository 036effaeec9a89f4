import type { Notice } from '../../core/notices.ts'

/** Things that a page shows and may have to ask for again; `any`: another process has written. */
export const TOPICS = [
  'runs',
  'events',
  'deliveries',
  'endpoints',
  'workflows',
  'schedules',
  'operations',
  'system',
  'any',
] as const
export type Topic = (typeof TOPICS)[number]

/** The topics that a notice changes, and its run; no topics for one that changes nothing shown. */
export function topicsOf(notice: Notice): { topics: readonly Topic[]; run: string | null } {
  const run = 'run' in notice && typeof notice.run === 'string' ? notice.run : null
  const [noun] = notice.kind.split('.')
  switch (noun) {
    case 'run':
    case 'runs':
    case 'step':
      return { topics: notice.kind === 'run.log' ? [] : ['runs'], run }
    case 'delivery':
      return { topics: ['deliveries', 'events'], run: null }
    case 'tick':
    case 'schedule':
      return { topics: ['schedules', 'runs'], run }
    case 'endpoint':
      return { topics: ['endpoints'], run: null }
    case 'workflow':
    case 'workflows':
      return { topics: ['workflows'], run: null }
    case 'store':
    case 'app':
    case 'fault':
    case 'alert':
      return { topics: ['system'], run: null }
    default:
      return { topics: [], run: null }
  }
}
