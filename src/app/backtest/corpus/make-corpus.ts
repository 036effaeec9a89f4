import { randomBytes } from 'node:crypto'
import type { ServiceEvent } from '../../../core/incoming/event.ts'
import { foldBody } from '../../../core/service/shapes/fold-body.ts'
import { emptyShape, type Shape } from '../../../core/service/shapes/shape.ts'
import { listWords } from '../../../core/service/shapes/write-schema.ts'
import type { StorageSpellings } from '../../../core/service/storage.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { type Comparison, compareSides } from '../../../engine/play/compare/compare-sides.ts'
import { sideOfPlay } from '../../../engine/play/compare/side-of-play.ts'
import { readWhole } from '../../play/record-run.ts'
import type { Room } from '../../play/room.ts'
import { type CaseStore, type RecordedCase, type RunChoice, readCases } from '../read-cases.ts'
import { listKept } from './list-kept.ts'
import { type CorpusCase, redactCase } from './redact-case.ts'
import { WordRedactor } from './word-redactor.ts'

type Store = CaseStore & Pick<ReadStore, 'listRunEvents' | 'listDeletes'>

interface Options {
  /** Plays each run with its own texts and with the replaced ones. */
  room: Pick<Room, 'play' | 'settings'>
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

const RULES = { readsLive: false, rerun: [], fixtures: {} }
const BATCH = 64

/** Makes a corpus of recorded runs. Runs that differ only by the replaced words are left out. */
export async function makeCorpus(store: Store, choice: RunChoice, options: Options): Promise<Corpus> {
  const { room, kept, signal, onRead = () => {} } = options
  const corpus: Corpus = { cases: [], leftOut: 0, noBody: 0, notStarted: 0, unfinished: 0 }
  const whole: { found: RecordedCase; complete: CorpusCase }[] = []
  for await (const page of readCases(store, choice, { withOutputs: true })) {
    signal.throwIfAborted()
    for (const count of ['noBody', 'notStarted'] as const) corpus[count] += page[count]
    corpus.unfinished += page.unfinished.length
    for (const found of page.cases) {
      whole.push({ found, complete: await completeCase(store, found, room.settings.spellings[found.account] ?? {}) })
    }
    onRead(whole.length)
  }
  const enumerated = listEnumerated(whole.map(({ complete }) => complete))
  const words = new WordRedactor(randomBytes(32), [...listKept(room.settings.workflowsDir), ...kept, ...enumerated])
  for (let from = 0; from < whole.length; from += BATCH) {
    signal.throwIfAborted()
    const batch = whole.slice(from, from + BATCH)
    const redacted = batch.map(({ complete }) => redactCase(words, complete))
    const cases = await checkBatch(
      room,
      batch.map(({ found }) => found),
      redacted,
    )
    corpus.cases.push(...cases)
    corpus.leftOut += batch.length - cases.length
  }
  return corpus
}

/** With all that a play would ask the store for. */
async function completeCase(store: Store, found: RecordedCase, spellings: StorageSpellings): Promise<CorpusCase> {
  const { job, run: id, account } = found
  return { ...found, job: await readWhole(store, { ...job, run: { id, account } }, spellings) }
}

/** The words of enumerations in the data of events, as `types generate` knows them. */
function listEnumerated(cases: readonly CorpusCase[]): string[] {
  const shapes = new Map<string, Shape>()
  for (const { job } of cases) {
    for (const { type, body } of job.given.events) {
      if (body === '') continue
      const shape = shapes.get(type) ?? emptyShape()
      shapes.set(type, foldBody(shape, (JSON.parse(body) as ServiceEvent).data))
    }
  }
  return [...shapes.values()].flatMap((shape) => wordsIn(shape, ''))
}

function wordsIn({ texts, lists, objects }: Shape, name: string): string[] {
  const named = objects?.kind === 'names' ? [...objects.names] : []
  return [
    ...((texts && listWords(texts, name)) ?? []),
    ...(lists ? wordsIn(lists.items, name) : []),
    ...named.flatMap(([each, shape]) => wordsIn(shape, each)),
  ]
}

/** The redacted cases of which the code of today makes the same as of the recorded ones. */
async function checkBatch(
  room: Options['room'],
  recorded: readonly RecordedCase[],
  redacted: readonly CorpusCase[],
): Promise<CorpusCase[]> {
  const play = (cases: readonly RecordedCase[]) =>
    room.play(
      cases.map(({ job }) => job),
      RULES,
    )
  const [before, after] = await Promise.all([play(recorded), play(redacted)])
  return redacted.flatMap((each, index) => {
    const [own, one, other] = [recorded[index], before[index], after[index]]
    if (!own || !one || !other) return []
    const [from, to] = [sideOfPlay(one), sideOfPlay(other)]
    // Words of the engine in the text of an end are those of the play.
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
