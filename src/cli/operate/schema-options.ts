import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { z } from 'zod'

/** A field of a schema, as `z.toJSONSchema` describes it. */
interface Field {
  description?: string
  enum?: readonly string[]
  default?: unknown
  type?: string
  /** True where it may be given more than once. */
  isList?: boolean
}

export interface OptionNames {
  /** Flags of fields that have another name on the command line, such as `q`: `text`. */
  flags?: Readonly<Record<string, string>>
  /** Fields that the command gives itself. */
  without?: readonly string[]
}

/**
 * Adds an option for each field of a query: its description is the help, its enumeration the
 * choices. The server checks the value; the option only tells what is not of the form at all.
 */
export function addSchemaOptions(command: Command, query: z.ZodObject, { flags = {}, without = [] }: OptionNames = {}) {
  for (const [name, field] of Object.entries(query.shape)) {
    if (without.includes(name)) continue
    const given = describe(field as z.ZodType)
    const flag = flags[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const isSwitch = given.enum?.length === 1 && given.enum[0] === 'true'
    const help = lower(given.description ?? `only with this ${flag.replaceAll('-', ' ')}`)
    const option = new Option(isSwitch ? `--${flag}` : `--${flag} <value>`, help)
    if (given.enum && !isSwitch) option.choices(given.enum)
    else if (!isSwitch) {
      option.argParser<unknown>((text, before) => {
        const value = check(field as z.ZodType, text)
        return given.isList ? [...((before as string[] | undefined) ?? []), value] : value
      })
    }
    command.addOption(option)
  }
  return command
}

export function readSchemaOptions(
  query: z.ZodObject,
  options: Readonly<Record<string, unknown>>,
  { flags = {}, without = [] }: OptionNames = {},
): Record<string, unknown> {
  const given = Object.keys(query.shape).flatMap((name) => {
    if (without.includes(name)) return []
    const value = options[camel(flags[name] ?? name)]
    return value === undefined ? [] : [[name, value === true ? 'true' : value]]
  })
  return Object.fromEntries(given)
}

function camel(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** A sentence of the schema as the help of an option. */
function lower(text: string): string {
  return text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replace(/\.$/, '')
}

function check(field: z.ZodType, text: string): string {
  const parsed = field.safeParse(text)
  if (parsed.success) return text
  const [issue] = parsed.error.issues
  const { description } = describe(field)
  throw new InvalidArgumentError(description === undefined ? `${issue?.message}.` : description)
}

/** The description, choices and default of a field, through its wrappers. */
function describe(field: z.ZodType): Field {
  const inner = (field as { def: { innerType?: z.ZodType } }).def.innerType
  const below: Field = inner === undefined ? {} : describe(inner)
  const { entries, options = [] } = (
    field as unknown as { def: { entries?: Record<string, string>; options?: z.ZodType[] } }
  ).def
  return {
    ...below,
    ...(entries === undefined ? {} : { enum: Object.values(entries) }),
    ...(options.some(({ type }) => type === 'array') ? { isList: true } : {}),
    ...(field.description === undefined ? {} : { description: field.description }),
  }
}
