import { maskTokens } from '../../core/incoming/hook.ts'
import { isPlainObject } from '../../core/json.ts'
import type { RunSide } from './compare/deed.ts'

/** Names of properties whose text is a secret, whatever it looks like. */
const SECRET = /(secret|token|password|passwd|authorization|cookie|api[-_]?key|credential|signature)/i
/** Stands in place of a secret. */
export const REDACTED = 'redacted'
/** Shorter values of secret variables would redact everyday words. */
const MIN_LENGTH = 8

/** Whether the text of a property with this name is a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

interface Machine {
  environment: Readonly<Record<string, string | undefined>>
  root: string
}

/** Takes out of values whatever is of one machine: its secrets, and the folder of its project. */
export class Portable {
  readonly #secrets: readonly string[]
  readonly #prefix: string | null

  constructor({ environment, root }: Machine) {
    const secret = Object.entries(environment).flatMap(([name, value = '']) => (isSecretName(name) ? [value] : []))
    this.#secrets = secret.filter(({ length }) => length >= MIN_LENGTH).sort((one, other) => other.length - one.length)
    // A root such as /app may begin the path of a file of the service as well.
    this.#prefix = root.split('/').length > 2 ? `${root.replace(/\/$/, '')}/` : null
  }

  /** JSON text without its secrets. A pruned body is no JSON, and stays. */
  json(text: string): string {
    return text === '' ? text : JSON.stringify(changeTexts(JSON.parse(text), (each) => this.text(each)))
  }

  /** Text without the values of secret variables, and without the URLs of hooks. */
  text(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), maskTokens(text))
  }

  /** The same for the result of a step, whose paths below the project become relative to it. */
  output(text: string): string {
    return JSON.stringify(changeTexts(JSON.parse(text), (each) => this.#path(this.text(each))))
  }

  /** The same for what a preview did. A secret that this machine lacks is one that another has. */
  value<Value>(value: Value): Value {
    return changeTexts(value, (each) => this.#path(this.text(each)), { hidesNull: true }) as Value
  }

  /** The same for the side of a preview. */
  side({ end, deeds, ...more }: RunSide): RunSide {
    const port = <Text extends string | null | undefined>(text: Text): Text =>
      (typeof text === 'string' ? JSON.stringify(this.value(JSON.parse(text))) : text) as Text
    return {
      end: { ...this.value(end), output: port(end.output) },
      deeds: deeds.map((deed) => ({ ...this.value(deed), expect: port(deed.expect), content: port(deed.content) })),
      ...more,
    }
  }

  #path(text: string): string {
    return this.#prefix !== null && text.startsWith(this.#prefix) ? text.slice(this.#prefix.length) : text
  }
}

/**
 * A value with other texts, and without those under names of secrets. `hidesNull`: a missing secret
 * is hidden, too. `rename`: changes the names of properties. Default: neither.
 */
export function changeTexts(
  value: unknown,
  change: (text: string) => string,
  { hidesNull = false, rename = (name) => name }: { hidesNull?: boolean; rename?: (name: string) => string } = {},
): unknown {
  const walk = (inner: unknown, name: string): unknown => {
    const isHidden = typeof inner === 'string' || (hidesNull && inner === null)
    if (isHidden && isSecretName(name)) return REDACTED
    if (typeof inner === 'string') return change(inner)
    if (Array.isArray(inner)) return inner.map((item) => walk(item, name))
    if (!isPlainObject(inner)) return inner
    return Object.fromEntries(Object.entries(inner).map(([each, item]) => [rename(each), walk(item, each)]))
  }
  return walk(value, '')
}
