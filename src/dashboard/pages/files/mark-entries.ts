import { lookOfStanding } from '../../words/states.ts'

import type { File } from './place.ts'
import type { FolderQuery } from './use-folder.ts'

/** How entries stand beside the other folder, by their ids. */
export type Marks = ReadonlyMap<string, ReturnType<typeof lookOfStanding>>

/**
 * Marks the entries of a folder by name and size. An entry has no mark while its namesake may be on
 * a page that is not shown.
 */
export function markEntries(folder: FolderQuery, other: FolderQuery): Marks {
  const namesakes = Map.groupBy(listEntries(other), nameOf)
  const isWhole = other.isSuccess && !other.isPlaceholderData && !other.hasNextPage
  const marks = new Map<string, ReturnType<typeof lookOfStanding>>()
  for (const [name, entries] of Map.groupBy(listEntries(folder), nameOf)) {
    const [entry] = entries
    const [namesake, ...more] = namesakes.get(name) ?? []
    if (entry === undefined || entries.length > 1 || more.length > 0) continue
    if (namesake !== undefined) marks.set(entry.id, lookOfStanding(compare(entry, namesake)))
    else if (isWhole) marks.set(entry.id, lookOfStanding('only_here'))
  }
  return marks
}

function listEntries({ data, isPlaceholderData }: FolderQuery): File[] {
  return isPlaceholderData ? [] : (data?.pages.flatMap(({ items }) => items) ?? [])
}

/** An accent may be written in two ways. */
function nameOf({ name }: File): string {
  return name.normalize('NFC')
}

/** Entries of folders are on their own pages: nothing is said of them. */
function compare(one: File, other: File): 'same' | 'differs' | 'both' {
  if (one.type === 'folder' && other.type === 'folder') return 'both'
  return one.type === other.type && one.size === other.size ? 'same' : 'differs'
}
