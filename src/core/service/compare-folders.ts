import type { FileEntry } from './file.ts'
import type { Snapshot } from './files-api.ts'

/** A folder of a storage with its entries, at any depth. */
interface ListedFolder extends Pick<Snapshot, 'items' | 'complete'> {
  /** Absolute path of the folder. */
  path: string
}

/**
 * `same`: type and size agree. `unknown`: the other listing may lack the entry, or a folder holds
 * several entries of the name.
 */
export const STANDINGS = ['same', 'differs', 'only_one', 'only_other', 'unknown'] as const
export type Standing = (typeof STANDINGS)[number]

export interface ComparedEntry {
  /** Below the folders, without a leading `/`. */
  path: string
  standing: Standing
  /** The first of the three that differs; null otherwise. */
  by: 'type' | 'size' | 'content' | null
  one: FileEntry | null
  other: FileEntry | null
}

/**
 * Compares two folders by the paths below them, in the order of these paths. Times are no
 * difference, because a copy has its own.
 */
export function compareFolders(one: ListedFolder, other: ListedFolder): ComparedEntry[] {
  const ones = groupByPath(one)
  const others = groupByPath(other)
  const paths = [...new Set([...ones.keys(), ...others.keys()])].sort()
  return paths.map((path) => {
    const [here = null, ...moreHere] = ones.get(path) ?? []
    const [there = null, ...moreThere] = others.get(path) ?? []
    const isTwice = moreHere.length + moreThere.length > 0
    const isUnproven = (here === null && !one.complete) || (there === null && !other.complete)
    const judged = isTwice || isUnproven ? UNKNOWN : judge(here, there)
    return { path, ...judged, one: here, other: there }
  })
}

const UNKNOWN = { standing: 'unknown', by: null } as const

function judge(one: FileEntry | null, other: FileEntry | null): Pick<ComparedEntry, 'standing' | 'by'> {
  if (one === null) return { standing: 'only_other', by: null }
  if (other === null) return { standing: 'only_one', by: null }
  if (one.type !== other.type) return { standing: 'differs', by: 'type' }
  return one.size === other.size ? { standing: 'same', by: null } : { standing: 'differs', by: 'size' }
}

/** An accent may be written in two ways, and services choose one by themselves. */
function groupByPath({ path: folder, items }: ListedFolder): Map<string, FileEntry[]> {
  const start = folder.replace(/\/+$/, '').length + 1
  return Map.groupBy(items, ({ path }) => path.slice(start).normalize('NFC'))
}
