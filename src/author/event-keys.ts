import { hash } from 'node:crypto'
import type { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import type { ReadKeys } from '../core/runs/matching.ts'
import { joinValues, keyText } from '../core/runs/matching.ts'

/** What a key function gives for an event; null or undefined: the event has no such key. */
export type KeyValue = string | number | null | undefined

/** An event definition as far as its keys go. */
export interface KeyedEvent {
  type: string
  data: z.ZodType
  keys: Record<string, (data: never) => KeyValue>
}

interface KeyEntry {
  definition: KeyedEvent
  read: (data: never) => KeyValue
  version: string
}

/** Declared keys by type and name. */
export type DeclaredKeys = ReadonlyMap<string, KeyEntry>

/**
 * The keys that the modules of this process declare. An event is matched long after the module was
 * loaded and before any run of it is replayed, so its functions must be known by type and name. The
 * newest declaration holds.
 */
export class KeyRegistry {
  #entries = new Map<string, KeyEntry>()

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
  }

  /**
   * Tells one set of functions from another, also in another process; null where one is not
   * declared.
   */
  version(type: string, name: string): string | null {
    const entries = this.#find(type, name)
    return entries?.map((entry) => entry.version).join('+') ?? null
  }

  /** What computes the keys of a watch; null where one is not declared. */
  reader(type: string, name: string): ReadKeys | null {
    const entries = this.#find(type, name)
    if (!entries) return null
    return (data) => {
      const values = entries.map(({ definition, read }) => read(definition.data.parse(data) as never))
      if (values.some((value) => value === null || value === undefined)) return null
      const names = listNames(name)
      return joinValues(values.map((value, index) => keyText(value, names[index] ?? '')))
    }
  }

  /**
   * What is declared now, to be put back by {@link restore} or compared by {@link declaredSince}.
   */
  snapshot(): DeclaredKeys {
    return new Map(this.#entries)
  }

  restore(snapshot: DeclaredKeys): void {
    this.#entries = new Map(snapshot)
  }

  /** The keys that have been declared, or declared anew, since a snapshot. */
  declaredSince(snapshot: DeclaredKeys): DeclaredKeys {
    return new Map([...this.#entries].filter(([key, entry]) => snapshot.get(key) !== entry))
  }

  #find(type: string, name: string): KeyEntry[] | null {
    const entries = listNames(name).map((each) => this.#entries.get(entryKey(type, each)))
    return entries.every((entry) => entry !== undefined) ? entries : null
  }
}

function entryKey(type: string, name: string): string {
  return `${type} ${name}`
}

function listNames(name: string): string[] {
  return name === '' ? [] : name.split('+')
}

/**
 * A key that two sets of declarations give different functions, as `type key`; null when there is
 * none.
 */
export function findClash(some: DeclaredKeys, others: DeclaredKeys): string | null {
  for (const [key, { version }] of some) {
    const other = others.get(key)
    if (other && other.version !== version) return key
  }
  return null
}

/** The one of this process, which `defineEvent` writes to. */
export const declaredKeys = new KeyRegistry()
