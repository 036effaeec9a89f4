import { randomBytes } from 'node:crypto'
import type { StorageSpellings } from '../../../core/service/storage.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { type Comparison, compareSides } from '../../../engine/preview/compare/compare-sides.ts'
import { sideOfPreview } from '../../../engine/preview/compare/run-side.ts'
import type { WholeRun } from '../../../engine/preview/preview-run.ts'
import type { IsolatedProcess } from '../../preview/isolated-process.ts'
import { readWhole } from '../../preview/record-run.ts'
import { type Rewriting, rewriteRun, rewriteSide } from '../../preview/rewrite-run.ts'
import { type CaseStore, type RecordedCase, type RunChoice, readCases } from '../read-cases.ts'
import { redactWords } from './redact-words.ts'

type Store = CaseStore & Pick<ReadStore, 'listRunEvents' | 'listDeletes'>

/** A case that needs no database: its job has all that its code was given. */
export interface CorpusCase extends RecordedCase {
  job: WholeRun
}

interface Options {
  /** Previews each run with its own texts and with the replaced ones. */
  isolated: Pick<IsolatedProcess, 'preview' | 'settings'>
  /** Texts whose words stay, beside those of the code. */
  kept: readonly string[]
  signal: AbortSignal
  /** Hears how many runs were read. */
  onRead?: (count: number) => void
}

/** Redacted runs, with the counts of those that are not among them. */
export interface Corpus {
  cases: CorpusCase[]
  /** Runs that the code takes otherwise with other words. */
  leftOut: number
  noBody: number
  notStarted: number
  unfinished: number
}

const RULES = { readsLive: false }

/** Makes a corpus of recorded runs. Runs that differ only by the replaced words are left out. */
export async function makeCorpus(store: Store, choice: RunChoice, options: Options): Promise<Corpus> {
  const { isolated, kept, signal, onRead = () => {} } = options
  const corpus: Corpus = { cases: [], leftOut: 0, noBody: 0, notStarted: 0, unfinished: 0 }
  const rewriting = redactWords(isolated.settings, kept, randomBytes(32))
  for await (const { cases, ...page } of readCases(store, choice, { withOutputs: true })) {
    signal.throwIfAborted()
    for (const count of ['noBody', 'notStarted', 'unfinished'] as const) corpus[count] += page[count]
    const own = await Promise.all(
      cases.map((each) => completeCase(store, each, isolated.settings.spellings[each.account] ?? {})),
    )
    const checked = await checkCases(isolated, own, rewriting)
    corpus.cases.push(...checked)
    corpus.leftOut += own.length - checked.length
    onRead(corpus.cases.length)
  }
  return corpus
}

/** With all that a preview would ask the store for. */
async function completeCase(store: Store, found: RecordedCase, spellings: StorageSpellings): Promise<CorpusCase> {
  const { job, run: id, account } = found
  return { ...found, job: await readWhole(store, { ...job, run: { id, account } }, spellings) }
}

function redactCase(rewriting: Rewriting, { event, account, job, side, ...more }: CorpusCase): CorpusCase {
  const { name } = rewriting
  const texts = { event: event && name(event), account: name(account) }
  return { ...more, ...texts, job: rewriteRun(rewriting, job), side: rewriteSide(rewriting, side) }
}

/** The redacted cases of which the code of today makes the same as of the recorded ones. */
async function checkCases(
  isolated: Options['isolated'],
  recorded: readonly CorpusCase[],
  rewriting: Rewriting,
): Promise<CorpusCase[]> {
  const redacted = recorded.map((each) => redactCase(rewriting, each))
  const [before, after] = await Promise.all(
    [recorded, redacted].map((cases) =>
      isolated.preview(
        cases.map(({ job }) => job),
        RULES,
      ),
    ),
  )
  return redacted.flatMap((each, index) => {
    const [own, one, other] = [recorded[index], before?.[index], after?.[index]]
    if (!own || !one || !other) return []
    const [from, to] = [sideOfPreview(one), sideOfPreview(other)]
    // Words of the engine in the text of an end are those of the preview.
    const isSameEnd = own.side.end.kind === from.end.kind && own.side.end.text === from.end.text
    const end = { ...each.side.end, ...(isSameEnd && { text: to.end.text }) }
    const side = { ...each.side, end }
    const options = { withOutputs: true, isCut: each.isCut }
    const [was, is] = [compareSides(own.side, from, options), compareSides(side, to, options)]
    return outline(was) === outline(is) ? [{ ...each, side }] : []
  })
}

/** A verdict without texts of the run. */
function outline(verdict: Comparison): string {
  if (verdict.kind !== 'differs') return verdict.kind
  return verdict.changes
    .map(({ sign, class: kind, bytes }) => `${sign} ${kind} ${bytes}`)
    .sort()
    .join('; ')
}
