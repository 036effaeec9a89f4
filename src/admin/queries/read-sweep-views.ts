import type { FileFinding } from '../../core/service/sweep/judge-file.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { KeptSweep } from '../../core/store/sweeps.ts'
import { isoTime } from '../../core/time.ts'
import type { AnswerOf } from '../contract/routes.ts'

/** How far back losses count as new. */
const RECENT_MS = 7 * 24 * 60 * 60_000

/** Findings that one look counts, of all storages or of one. */
const FINDINGS = 10_000

/** How the sweeps of a storage stand. */
export type SweepView = AnswerOf<'GET /system'>['sweeps'][number]

export async function readSweepViews(
  store: Pick<ReadStore, 'listSweeps' | 'listFindings'>,
  now: number,
): Promise<SweepView[]> {
  const sweeps = await store.listSweeps()
  if (sweeps.length === 0) return []
  const states = ['missing', 'held', 'due', 'made', 'denied'] as const
  const lost = await listFindings(store, sweeps, { states, since: now - RECENT_MS })
  const held = await listFindings(store, sweeps, { states: ['held'] })
  return sweeps.map((sweep) => viewSweep(sweep, lost, held))
}

/** A storage that lost very many files hides no loss of another. */
async function listFindings(
  store: Pick<ReadStore, 'listFindings'>,
  sweeps: readonly KeptSweep[],
  query: Omit<Parameters<ReadStore['listFindings']>[0], 'limit'>,
): Promise<FileFinding[]> {
  const found = await store.listFindings({ ...query, limit: FINDINGS })
  if (found.length < FINDINGS) return found
  const ofOne = ({ account, storage }: KeptSweep) => store.listFindings({ ...query, account, storage, limit: FINDINGS })
  return (await Promise.all(sweeps.map(ofOne))).flat()
}

function viewSweep(
  { account, storage, state }: KeptSweep,
  lost: readonly FileFinding[],
  held: readonly FileFinding[],
): SweepView {
  const isOwn = (finding: FileFinding) => finding.account === account && finding.storage === storage
  const last = state.complete.at(-1)
  const recent = lost.filter(isOwn)
  return {
    account,
    storage,
    complete: last === undefined ? null : { startedAt: isoTime(last.startedAt), endedAt: isoTime(last.endedAt) },
    fault: state.ended?.fault ?? null,
    lost: recent.length,
    made: recent.filter((finding) => finding.state === 'made').length,
    held: held.filter(isOwn).length,
    underWay: viewPresent(state),
  }
}

function viewPresent({ phase, seen, total }: KeptSweep['state']): SweepView['underWay'] {
  return phase === 'idle' ? null : { phase, seen, total }
}
