import { UpshotError } from '../core/errors.ts'
import { isThenable } from '../core/thenable.ts'

/** The fault of a value, or of a part of it, such as `.retry`. */
interface Fault {
  part: string
  says: string
}

type Check = (value: unknown) => Fault | null
/** The arguments of a verb in order, or options. A name with `?` may be left out. */
type Checks = Record<string, Check>

const must =
  (be: string, fits: (value: unknown) => boolean): Check =>
  (value) =>
    fits(value) ? null : { part: '', says: `must be ${be}, and is ${describe(value)}` }

interface Parameter {
  name: string
  isOptional: boolean
  check: Check
}

/** The parameters of a verb, and how they are written. */
interface Signature {
  parameters: Parameter[]
  usage: string
}

/** An object with options of these names and no others. */
function options(checks: Checks): Check {
  const known = parametersOf(checks)
  const names = known.map(({ name }) => name)
  return (value) => {
    if (!isObject(value)) return object(value)
    for (const name in value) {
      if (!names.includes(name)) return { part: '', says: `has no "${name}", only ${names.join(', ')}` }
    }
    const fault = findFault(known, value, byName)
    return fault && { ...fault, part: `.${fault.part}` }
  }
}

const any: Check = () => null
const text = must('text', (value) => typeof value === 'string')
const code = must('a function', (value) => typeof value === 'function')
const flag = must('true or false', (value) => typeof value === 'boolean')
const object = must('an object', isObject)
const name = must('text, or [text, key]', isName)
const list = must('a list', isList)
const duration = must('a duration such as "30s"', (value) => typeof value === 'string' || typeof value === 'number')
const moment = must('a date or milliseconds', (value) => value instanceof Date || typeof value === 'number')
const schema = must('a zod schema', (value) => isObject(value) && typeof value.safeParse === 'function')
const workflow = must('a workflow', (value) => isOfKind(value, 'workflow'))
const type = must('an event type or a defineEvent(…)', (value) => typeof value === 'string' || isOfKind(value, 'event'))
const effect = must('"read", "write" or "delete"', (value) => ['read', 'write', 'delete'].includes(value as string))
/** Entries of listings name a file, too, so that more is allowed. */
const file = must('a file with `service` and `id`', isFile)
const folder = must('an object with `service`', isOfStorage)
const place = must(
  'an object with `service`, and `id` or `path`',
  (value) => isFile(value) || (isOfStorage(value) && typeof value.path === 'string'),
)
const files = must('a list of files with `service` and `id`', (value) =>
  Array.isArray(value) ? value.every(isFile) : isList(value),
)

const limits = { 'retry?': object, 'timeout?': duration }
const effects = { ...limits, 'effect?': effect, 'target?': text, 'input?': any, 'once?': flag, 'dry?': code }
const rules = {
  'timezone?': text,
  'catchUp?': any,
  'within?': duration,
  'overlap?': any,
  'account?': any,
  'accounts?': any,
}
const awaited = { on: type, 'where?': object, timeout: duration }
const orHook =
  (wait: Check): Check =>
  (value) =>
    isOfKind(value, 'hook') ? null : wait(value)

/** The arguments of each verb of `step`. */
export const STEPS = signaturesOf({
  run: { name, fn: code, 'options?': options(effects) },
  map: { name: text, items: list, keyOf: code, fn: code, 'options?': options({ ...effects, 'parallel?': any }) },
  waitFor: { name, options: orHook(options({ ...awaited, 'since?': any })) },
  receive: { name, options: orHook(options(awaited)) },
  hook: {
    name,
    options: options({ expires: duration, 'data?': schema, 'sign?': object, 'ask?': any, 'many?': flag }),
  },
  send: { name, type, data: any, 'options?': options({ 'at?': moment }) },
  schedule: {
    name: text,
    schedule: options({
      workflow,
      'input?': any,
      'cron?': text,
      'at?': moment,
      ...rules,
    }),
  },
  unschedule: { name: text },
  invoke: { name, workflow, 'input?': any, 'options?': options({ 'timeout?': duration, 'parentClosePolicy?': any }) },
  approve: {
    name,
    question: options({
      ask: any,
      'show?': any,
      'deletes?': files,
      'answer?': schema,
      'by?': text,
      'needs?': any,
      'timeout?': duration,
    }),
  },
  patched: { id: text },
  continueAs: { 'input?': any },
  sleep: { name, duration },
  sleepUntil: { name, moment },
})

/** The arguments of each verb of `files`. */
export const FILES = signaturesOf({
  list: { query: folder, 'options?': options(limits) },
  iterate: { query: folder, 'options?': options(limits) },
  snapshot: { query: folder, 'options?': options({ ...limits, 'max?': any, 'verify?': flag }) },
  find: { place, 'options?': options(limits) },
  get: { file, 'options?': options(limits) },
  downloadUrl: { file, 'options?': options(limits) },
  download: { file, options: options({ ...limits, to: text }) },
  hash: { file, 'options?': options(limits) },
  delete: { file, 'options?': options({ ...limits, 'expect?': any, 'allowFolder?': flag }) },
  deleteAll: { files, 'options?': options({ ...limits, 'of?': object }) },
})

/** The arguments of functions that a module calls while it is loaded. */
const DEFINITIONS = signaturesOf({
  defineEvent: {
    type: text,
    shape: options({ data: schema, 'keys?': object, 'file?': code, 'fromFile?': code }),
  },
  callable: { schema },
  cron: { expression: text, 'options?': options(rules) },
})

/** Throws `invalid_workflow` where code gives a function what TypeScript would not compile. */
export function checkDefinition(verb: keyof typeof DEFINITIONS, ...given: unknown[]): void {
  const fault = findMisuse(verb, DEFINITIONS[verb], given)
  if (fault !== null) throw new UpshotError('invalid_workflow', `${fault}.`)
}

/**
 * Lets each verb of an API, which is this caller's own, look first at what code gives it. A fault
 * goes to `refuse`: JavaScript has no types that would find it.
 */
export function checkCalls<Api extends object>(
  of: string,
  verbs: Readonly<Record<string, Signature>>,
  api: Api,
  refuse: (fault: string) => never,
): Api {
  const calls = api as Record<string, (...given: unknown[]) => unknown>
  for (const verb in verbs) {
    const call = calls[verb]
    calls[verb] = (...given) => {
      checkCall(of, verbs, verb, given, refuse)
      return call?.(...given)
    }
  }
  return api
}

/** The same for one call of a verb. */
export function checkCall<Verb extends string>(
  of: string,
  verbs: Readonly<Record<Verb, Signature>>,
  verb: Verb,
  given: unknown[],
  refuse: (fault: string) => never,
): void {
  const fault = findMisuse(verb, verbs[verb], given, of)
  if (fault !== null) refuse(fault)
}

function findMisuse(verb: string, { parameters, usage }: Signature, given: unknown[], of?: string): string | null {
  const fault = findFault(parameters, given, byIndex)
  if (fault === null) return null
  const name = of === undefined ? verb : `${of}.${verb}`
  return `${name}: \`${fault.part}\` ${fault.says}. Call it as ${name}(${usage})`
}

function signaturesOf<Verb extends string>(verbs: Record<Verb, Checks>): Record<Verb, Signature> {
  const signatures = Object.entries<Checks>(verbs).map(([verb, checks]) => [
    verb,
    { parameters: parametersOf(checks), usage: Object.keys(checks).join(', ') },
  ])
  return Object.fromEntries(signatures)
}

function parametersOf(checks: Checks): Parameter[] {
  return Object.entries(checks).map(([key, check]) => {
    return { name: key.replace('?', ''), isOptional: key.endsWith('?'), check }
  })
}

const byIndex = (given: readonly unknown[], _: Parameter, index: number) => given[index]
const byName = (given: Record<string, unknown>, { name }: Parameter) => given[name]

/** The first fault of the values of parameters. Only a fault makes words: each step is checked. */
function findFault<Given>(
  parameters: readonly Parameter[],
  given: Given,
  read: (given: Given, parameter: Parameter, index: number) => unknown,
): Fault | null {
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] as Parameter
    const value = read(given, parameter, index)
    if (value === undefined && parameter.isOptional) continue
    const fault = parameter.check(value)
    if (fault !== null) return { ...fault, part: parameter.name + fault.part }
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isOfKind(value: unknown, kind: string): boolean {
  return isObject(value) && value.kind === kind
}

function isList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function isName(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string'
  const [name, key] = value
  return value.length === 2 && typeof name === 'string' && (typeof key === 'string' || typeof key === 'number')
}

function isOfStorage(value: unknown): value is Record<string, unknown> {
  return isObject(value) && typeof value.service === 'string'
}

function isFile(value: unknown): boolean {
  return isOfStorage(value) && typeof value.id === 'string'
}

/** A value in a message: what it is, and never its content. */
function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (isThenable(value)) return 'a promise: await it first'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  if (typeof value !== 'object') return `a ${typeof value}`
  return Symbol.asyncIterator in value ? 'asynchronous: read it into a list first' : 'an object'
}
