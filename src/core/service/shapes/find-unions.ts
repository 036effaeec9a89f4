import { isPlainObject } from '../../json.ts'
import type { StorageSpellings } from '../storage.ts'
import { belowList, belowName, isWithin, type Place, splitPlace } from './place.ts'
import { emptyShape, foldBody, mergeObjects, type ObjectShape, type Shape } from './shape.ts'
import { listNames, listWords, type ShapeUnion } from './write-schema.ts'

/** Names of one place that are tried. */
const MAX_CANDIDATES = 4

/** Objects of one place, folded apart by each word of one name. */
interface Split {
  place: Place
  by: string
  words: Map<string, Shape>
}

/**
 * The places where a word may tell which names an object has. Fold all bodies into these splits
 * with `foldSplits`, and let `chooseUnions` decide.
 */
export function findSplits(shape: Shape, place = ''): Split[] {
  const { lists, objects } = shape
  const inItems = lists === null ? [] : findSplits(lists.items, belowList(place))
  const names = objects && listNames(objects)
  if (objects === null || names === null) return inItems
  const isVaried = names.some(([, { seen }]) => seen < objects.seen)
  const candidates = isVaried ? names.filter(([name, each]) => tellsApart(each, name, objects)) : []
  return [
    ...inItems,
    ...candidates.slice(0, MAX_CANDIDATES).map(([by]) => ({ place, by, words: new Map() })),
    ...names.flatMap(([name, each]) => findSplits(each, belowName(place, name))),
  ]
}

function tellsApart({ seen, texts }: Shape, name: string, objects: ObjectShape): boolean {
  if (texts === null || texts.seen < seen || seen < objects.seen) return false
  return (listWords(texts, name)?.length ?? 0) > 1
}

/** `spellings` as for `foldBody`. */
export function foldSplits(splits: readonly Split[], body: unknown, spellings: StorageSpellings = {}): void {
  for (const { place, by, words } of splits) {
    for (const object of listAt(body, splitPlace(place))) {
      const word = object[by]
      if (typeof word === 'string') words.set(word, foldBody(words.get(word) ?? emptyShape(), object, spellings))
    }
  }
}

function listAt(value: unknown, [name, ...rest]: readonly string[]): Record<string, unknown>[] {
  if (name === undefined) return isPlainObject(value) ? [value] : []
  if (name === '[]') return Array.isArray(value) ? value.flatMap((item) => listAt(item, rest)) : []
  return isPlainObject(value) && Object.hasOwn(value, name) ? listAt(value[name], rest) : []
}

/** By place, the split that settles most of the names that only some objects have. */
export function chooseUnions(splits: readonly Split[]): Map<string, ShapeUnion> {
  const chosen = new Map<string, ShapeUnion>()
  for (const [place, rivals] of Map.groupBy(splits, (split) => split.place)) {
    const isInside = [...chosen.keys()].some((outer) => isWithin(place, outer))
    const ranked = rivals.map((split) => ({ split, settled: countSettled(split) }))
    const best = ranked.sort((one, other) => other.settled - one.settled)[0]
    if (isInside || best === undefined || best.settled === 0) continue
    chosen.set(place, { by: best.split.by, variants: groupWords(best.split) })
  }
  return chosen
}

/** How many names each word has always or never, and not all words alike. */
function countSettled({ words }: Split): number {
  const objects = [...words.values()].flatMap((shape) => shape.objects ?? [])
  const names = new Set(objects.flatMap((each) => (each.kind === 'names' ? [...each.names.keys()] : [])))
  return [...names].filter((name) => {
    const shares = new Set(objects.map((each) => shareOf(each, name)))
    return shares.size === 2 && !shares.has('some')
  }).length
}

function shareOf(objects: ObjectShape, name: string): 'all' | 'some' | 'none' {
  const seen = objects.kind === 'names' ? (objects.names.get(name)?.seen ?? 0) : 0
  if (seen === 0) return 'none'
  return seen === objects.seen ? 'all' : 'some'
}

/** Words whose objects have the same names share a variant. */
function groupWords({ words }: Split): ShapeUnion['variants'] {
  const all = [...words].flatMap(([word, { objects }]) => (objects === null ? [] : [{ word, objects }]))
  const groups = Map.groupBy(
    all.sort((one, other) => (one.word < other.word ? -1 : 1)),
    ({ objects }) => JSON.stringify(listNames(objects)?.map(([name]) => `${name} ${shareOf(objects, name)}`)),
  )
  return [...groups.values()].map((same) => ({
    words: same.map(({ word }) => word),
    objects: same.map(({ objects }) => objects).reduce(mergeObjects),
  }))
}
