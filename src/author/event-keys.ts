import { hash } from 'node:crypto'
import type { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import { joinValues, keyText, type ReadKeys } from '../core/runs/matching.ts'
import type { FileEntry } from '../core/service/file.ts'
import { silence } from '../core/thenable.ts'

/** The value of a key for one event; null or undefined: the event has no such key. */
export type KeyValue = string | number | null | undefined

/** The part of an event definition that computes keys. */
export interface KeyedEvent {
  type: string
  data: z.ZodType
  keys: Record<string, (data: never) => KeyValue>
  file?: (data: never) => EventFile | null
  fromFile?: (entry: FileEntry) => unknown
}

/** The file that an event tells of. */
export interface EventFile {
  /** The storage, as the event spells it. */
  service: string
  id: string
}

/** The functions of an event type that tell its file, and make an event of a file. */
export interface FileFunctions {
  /** The same in every process with the same code. */
  version: string
  /** Throws where the data does not fit, or the function throws. */
  read: (data: unknown) => EventFile | null
  /** Throws where what it makes does not fit. Null: the author declares none. */
  make: ((entry: FileEntry) => unknown) | null
}

/** The place of both functions among the keys: no key of an author can have this name. */
const FILE = '@file'

interface KeyEntry {
  definition: KeyedEvent
  read: (data: never) => KeyValue
  version: string
}

export type DeclaredKeys = ReadonlyMap<string, KeyEntry>

/**
 * The key functions of this process by event type and key name; the newest declaration of a key
 * wins. Waits outlive the code that made them, so a function must be found by name.
 */
export class KeyRegistry {
  #entries = new Map<string, KeyEntry>()

  /** Throws `invalid_workflow` for a key name other than 1 to 50 letters, digits, `_` and `-`. */
  declare(definition: KeyedEvent): void {
    for (const [name, read] of Object.entries(definition.keys)) {
      if (!/^[\w-]{1,50}$/.test(name)) {
        throw new UpshotError(
          'invalid_workflow',
          `"${name}" is not a key name: use letters, digits, "_" and "-", at most 50.`,
        )
      }
      const version = hash('sha256', String(read), 'hex').slice(0, 16)
      this.#entries.set(entryKey(definition.type, name), { definition, read, version })
    }
    const { file, fromFile } = definition
    if (file === undefined) return
    const version = hash('sha256', `${file}\0${fromFile ?? ''}`, 'hex').slice(0, 16)
    this.#entries.set(entryKey(definition.type, FILE), { definition, read: () => null, version })
  }

  files(): Map<string, FileFunctions> {
    const found = [...this.#entries].filter(([key]) => key.endsWith(` ${FILE}`))
    return new Map(found.map(([, { definition, version }]) => [definition.type, fileFunctions(definition, version)]))
  }

  /**
   * Version of the functions of a key, the same in every process; null when one is not declared.
   * `name` joins several keys with `+`.
   */
  version(type: string, name: string): string | null {
    const entries = this.#find(type, name)
    return entries?.map((entry) => entry.version).join('+') ?? null
  }

  /** Computes the keys of a cursor; null when one is not declared. */
  reader(type: string, name: string): ReadKeys | null {
    const entries = this.#find(type, name)
    if (!entries) return null
    return (data) => {
      const values = entries.map(({ definition, read }) => silence(read(definition.data.parse(data) as never)))
      if (values.some((value) => value === null || value === undefined)) return null
      const names = listNames(name)
      return joinValues(values.map((value, index) => keyText(value, names[index] ?? '')))
    }
  }

  /** The present declarations, for `restore` and `declaredSince`. */
  snapshot(): DeclaredKeys {
    return new Map(this.#entries)
  }

  restore(snapshot: DeclaredKeys): void {
    this.#entries = new Map(snapshot)
  }

  /** The keys that were declared, or declared again, since a snapshot. */
  declaredSince(snapshot: DeclaredKeys): DeclaredKeys {
    return new Map([...this.#entries].filter(([key, entry]) => snapshot.get(key) !== entry))
  }

  #find(type: string, name: string): KeyEntry[] | null {
    const entries = listNames(name).map((each) => this.#entries.get(entryKey(type, each)))
    return entries.every((entry) => entry !== undefined) ? entries : null
  }
}

function fileFunctions({ data: schema, file, fromFile }: KeyedEvent, version: string): FileFunctions {
  return {
    version,
    read: (data) => silence(file?.(schema.parse(data) as never) ?? null),
    make:
      fromFile === undefined
        ? null
        : (entry) => {
            const made = silence(fromFile(entry))
            schema.parse(made)
            return made
          },
  }
}

function entryKey(type: string, name: string): string {
  return `${type} ${name}`
}

function listNames(name: string): string[] {
  return name === '' ? [] : name.split('+')
}

/** The first key, as `type key`, that two sets of declarations compute differently; else null. */
export function findClash(some: DeclaredKeys, others: DeclaredKeys): string | null {
  for (const [key, { version }] of some) {
    const other = others.get(key)
    if (other && other.version !== version) return key
  }
  return null
}

/**
 * The key functions of this process. Global on purpose: `defineEvent` declares keys while modules
 * load, outside any run. See decision 11.
 */
export const declaredKeys = new KeyRegistry()
