type Holder = Record<PropertyKey, unknown>

const iteratorOf = (iterable: Iterable<unknown>) => Object.getPrototypeOf(iterable[Symbol.iterator]())

/**
 * Objects that the engine calls. Date and Math are none: isolated processes replace parts of them.
 */
const HOLDERS: Record<string, object> = {
  Promise,
  'Promise.prototype': Promise.prototype,
  Array,
  'Array.prototype': Array.prototype,
  'Map.prototype': Map.prototype,
  'Set.prototype': Set.prototype,
  'String.prototype': String.prototype,
  'RegExp.prototype': RegExp.prototype,
  'Function.prototype': Function.prototype,
  Object,
  JSON,
  Reflect,
  Atomics,
  'the iterator of arrays': iteratorOf([]),
  'the iterator of maps': iteratorOf(new Map()),
  'the iterator of sets': iteratorOf(new Set()),
}
const GLOBALS =
  'Promise Array Map Set WeakMap Object JSON Reflect Symbol String Number RegExp Error Atomics Buffer ' +
  'setTimeout clearTimeout setInterval setImmediate queueMicrotask structuredClone AbortController AbortSignal'

interface Intrinsic {
  name: string
  holder: Holder
  key: PropertyKey
  value: unknown
}

/**
 * Functions of JavaScript that the engine calls, as they were when this was made. Author code can
 * replace them. They are compared and not locked: V8 gives up its fast paths for locked ones.
 */
export class Intrinsics {
  readonly #all: readonly Intrinsic[]
  readonly #equal = Object.is

  constructor() {
    const globals = GLOBALS.split(' ').map((key) => [key, globalThis, key] as const)
    const methods = Object.entries(HOLDERS).flatMap(([name, holder]) =>
      Reflect.ownKeys(holder)
        .filter((key) => typeof Reflect.getOwnPropertyDescriptor(holder, key)?.value === 'function')
        .map((key) => [`${name}.${String(key)}`, holder, key] as const),
    )
    this.#all = [...globals, ...methods].map(([name, holder, key]) => {
      return { name, holder: holder as Holder, key, value: (holder as Holder)[key] }
    })
  }

  /**
   * The first one that is another now, with what replaces it. It gets its own value back, as do the
   * rest. Calls none of them.
   */
  restore(): { name: string; by: unknown } | null {
    let found: { name: string; by: unknown } | null = null
    const all = this.#all
    for (let index = 0; index < all.length; index++) {
      const { name, holder, key, value } = all[index] as Intrinsic
      const by = holder[key]
      if (this.#equal(by, value)) continue
      found ??= { name, by }
      try {
        holder[key] = value
      } catch {
        // Locked by what replaced it: the next thread has it whole.
      }
    }
    return found
  }
}
