import { basename, dirname, join } from 'node:path'
import { newId } from '../../core/ids.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { SandboxClock } from '../state/clock.ts'
import { atomically, type Db } from '../state/database.ts'
import type { EventJournal } from '../state/event-journal.ts'
import type { LiveSettings } from '../state/settings.ts'
import { type Entry, toWireEntry } from './entry.ts'
import { type Fingerprint, fingerprintOf } from './fingerprint.ts'
import { mimeTypeOf } from './mime-type.ts'
import type { StorageIndex } from './storage-index.ts'

/**
 * A path in a storage. `silent`: no event, as for files that were there before the storage was
 * connected.
 */
interface Place {
  storage: StorageName
  root: string
  path: string
  silent?: boolean
}

/** Parts of a new entry that its maker chooses. */
export interface Given {
  /** Default: a new one. */
  id?: string
  /** Epoch milliseconds. Default: now. */
  createdAt?: number
  /** Epoch milliseconds. Default: when the file on the disk was last written. */
  modifiedAt?: number
}

/** Parent of entries that lost their place until the changes end. No path on disk begins so. */
const NOWHERE = '//nowhere'

/**
 * Brings the index in line with the disk and emits the events, in one transaction. A change that is
 * recorded already records nothing.
 */
export class ChangeRecorder {
  readonly #db: Db
  readonly #index: StorageIndex
  readonly #events: EventJournal
  readonly #clock: SandboxClock
  readonly #settings: LiveSettings
  /** Number of entries created, so that all shapes of hostile ids occur. */
  #created = 0
  #isRecordingAll = false
  readonly #displaced: { limbo: Place; knownAs: string }[] = []

  constructor(parts: {
    db: Db
    index: StorageIndex
    events: EventJournal
    clock: SandboxClock
    settings: LiveSettings
  }) {
    this.#db = parts.db
    this.#index = parts.index
    this.#events = parts.events
    this.#clock = parts.clock
    this.#settings = parts.settings
  }

  /** Records several changes in one transaction. Files may have swapped places among them. */
  recordAll(record: () => void): void {
    atomically(this.#db, () => {
      this.#isRecordingAll = true
      try {
        record()
      } finally {
        this.#isRecordingAll = false
        this.#endDisplaced()
      }
    })
  }

  /**
   * Records what is at `place`: known by identity first, then by path, otherwise new. `given`
   * counts for a new entry alone.
   */
  present(place: Place, fingerprint: Fingerprint, given: Given = {}): Entry {
    return atomically(this.#db, () => {
      this.#ensureParent(place)
      const there = this.#index.byPath(place.storage, place.path)
      if (there?.identity === fingerprint.identity) return this.#refresh(there, fingerprint)
      const moved = this.#findMoved(place, fingerprint)
      if (moved) return this.#move(moved, place, fingerprint)
      if (there?.type === fingerprint.type) return this.#refresh(there, fingerprint)
      if (there) this.missing(place)
      return this.#create(place, fingerprint, given)
    })
  }

  /** Records that nothing is at `place` or beneath it. */
  missing(place: Place): void {
    atomically(this.#db, () => this.#remove(place, place.path))
  }

  /** `knownAs`: the path that its `file.deleted` event names. */
  #remove(place: Place, knownAs: string): void {
    const entry = this.#index.byPath(place.storage, place.path)
    if (!entry) return
    const beneath = entry.type === 'folder' ? this.#index.beneath(place.storage, place.path) : []
    for (const each of [...beneath, entry]) {
      this.#index.delete(each)
      const path = knownAs + each.path.slice(place.path.length)
      this.#emit('file.deleted', { ...each, path }, place.silent)
    }
  }

  #ensureParent(place: Place): void {
    const parent = dirname(place.path)
    if (parent === '/' || this.#index.byPath(place.storage, parent)) return
    const fingerprint = fingerprintOf(join(place.root, parent))
    if (fingerprint) this.present({ ...place, path: parent }, fingerprint)
  }

  /**
   * The entry that had this identity at another path. Undefined if it is still there: the file has
   * two names.
   */
  #findMoved(place: Place, fingerprint: Fingerprint): Entry | undefined {
    return this.#index
      .byIdentity(place.storage, fingerprint.identity)
      .find(
        (entry) =>
          entry.type === fingerprint.type &&
          fingerprintOf(join(place.root, entry.path))?.identity !== fingerprint.identity,
      )
  }

  #create(place: Place, fingerprint: Fingerprint, given: Given): Entry {
    const now = this.#clock.now()
    const entry: Entry = {
      storage: place.storage,
      id: given.id ?? this.#newId(now),
      ...namesOf(place.path, fingerprint),
      identity: fingerprint.identity,
      fingerprint: fingerprint.text,
      createdAt: given.createdAt ?? now,
      modifiedAt: given.modifiedAt ?? this.#dateOf(fingerprint),
    }
    this.#index.insert(entry)
    this.#emit('file.created', entry, place.silent)
    return entry
  }

  /** A file that somebody copied with its date, or gave an old one, keeps it. */
  #dateOf({ type, ageMs }: Fingerprint): number {
    return this.#clock.now() - (type === 'file' ? ageMs : 0)
  }

  #newId(now: number): string {
    const id = newId('fil', now)
    return this.#settings.get().hostileIds ? hostileId(id, this.#created++) : opaqueId(id)
  }

  #refresh(entry: Entry, fingerprint: Fingerprint): Entry {
    if (entry.fingerprint === fingerprint.text) return entry
    const { identity, text } = fingerprint
    const size = fingerprint.type === 'file' ? fingerprint.size : null
    const changed: Entry = { ...entry, identity, fingerprint: text, size, modifiedAt: this.#dateOf(fingerprint) }
    this.#index.refresh(changed)
    return changed
  }

  #move(entry: Entry, place: Place, fingerprint: Fingerprint): Entry {
    this.#displace(place)
    const modifiedAt = fingerprint.text === entry.fingerprint ? entry.modifiedAt : this.#dateOf(fingerprint)
    const moved = { ...entry, ...namesOf(place.path, fingerprint), fingerprint: fingerprint.text, modifiedAt }
    const beneath = this.#relocate(entry, moved)
    for (const { path, knownAs } of beneath) {
      // Files inside a moved folder may be gone.
      if (!fingerprintOf(join(place.root, path))) this.#displace({ ...place, path }, knownAs)
    }
    return moved
  }

  /** Gives an entry and everything beneath it new paths. Returns each new path with the old one. */
  #relocate(entry: Entry, moved: Entry): { path: string; knownAs: string }[] {
    const beneath = entry.type === 'folder' ? this.#index.beneath(entry.storage, entry.path) : []
    this.#index.refresh(moved)
    return beneath.map((child) => {
      const path = moved.path + child.path.slice(entry.path.length)
      this.#index.refresh({ ...child, path, parent: dirname(path) })
      return { path, knownAs: child.path }
    })
  }

  /**
   * Takes an entry from its path. It may turn up elsewhere before the changes of `recordAll` end.
   */
  #displace(place: Place, knownAs = place.path): void {
    const entry = this.#index.byPath(place.storage, place.path)
    if (!entry) return
    const limbo = { ...place, path: `${NOWHERE}/${entry.id}` }
    this.#relocate(entry, { ...entry, path: limbo.path, parent: NOWHERE })
    this.#displaced.push({ limbo, knownAs })
    if (!this.#isRecordingAll) this.#endDisplaced()
  }

  /** Removes the entries that turned up nowhere. */
  #endDisplaced(): void {
    for (const { limbo, knownAs } of this.#displaced.splice(0)) this.#remove(limbo, knownAs)
  }

  #emit(type: 'file.created' | 'file.deleted', entry: Entry, silent = false): void {
    if (entry.type === 'folder' || silent) return
    this.#events.emit(type, { service: entry.storage, file: toWireEntry(entry) })
  }
}

function namesOf(
  path: string,
  fingerprint: Fingerprint,
): Pick<Entry, 'path' | 'parent' | 'name' | 'type' | 'size' | 'mimeType'> {
  const name = basename(path)
  const isFile = fingerprint.type === 'file'
  return {
    path,
    parent: dirname(path),
    name,
    type: fingerprint.type,
    size: isFile ? fingerprint.size : null,
    mimeType: isFile ? mimeTypeOf(name) : null,
  }
}

/** The random part of an id; it sorts by time, as the id does. */
function opaqueId(id: string): string {
  return id.slice(id.indexOf('_') + 1)
}

const SHAPES = [
  (word: string) => `${word}/slash`,
  (word: string) => `${word}?query=1&more#fragment`,
  (word: string) => `${word}%2e%2e%2fencoded`,
  (word: string) => `${word} with spaces; and = signs`,
  (word: string) => `${word}-größe-日本-😀`,
  (word: string) => `..${word}`,
  (word: string) => `${word}+plus"quote'<tag>`,
]

/** The n-th shape of a legal id that breaks clients which build URLs without encoding. */
function hostileId(word: string, n: number): string {
  return SHAPES[n % SHAPES.length]?.(word) ?? word
}
