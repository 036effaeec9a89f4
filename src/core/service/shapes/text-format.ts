import { z } from 'zod'
import { findStorage } from '../storage.ts'

/** The forms that texts of one place may share: the code of a schema, and the same as a test. */
const FORMATS = {
  moment: format('z.iso.datetime({ offset: true })', z.iso.datetime({ offset: true }), /^\d{4}-\d\d-\d\dT/),
  date: format('z.iso.date()', z.iso.date(), /^\d{4}-\d\d-\d\d$/),
  url: format('z.url()', z.url(), /^https?:/),
  path: format(`z.string().startsWith('/')`, z.string(), /^\//),
  storage: { code: 'storageName', fits: (text: string) => findStorage(text, {}) !== null },
  uuid: format('z.guid()', z.guid(), /^[\da-f]{8}-/i),
  hex: format('z.hex().min(8)', z.hex(), /^[\da-f]{8}/i),
}

type PlainFormat = keyof typeof FORMATS

/** A form of a text; `id fil_` stands for ids that begin with `fil_`. */
export type TextFormat = PlainFormat | `id ${string}`

/** `begins` is what all such texts begin with: a look that costs less than the schema. */
function format(code: string, schema: z.ZodType, begins: RegExp): { code: string; fits(text: string): boolean } {
  return { code, fits: (text) => begins.test(text) && schema.safeParse(text).success }
}

const PLAIN = Object.keys(FORMATS) as PlainFormat[]

/** All formats of a text. */
export function formatsOf(text: string): TextFormat[] {
  const formats: TextFormat[] = PLAIN.filter((each) => FORMATS[each].fits(text))
  const prefix = prefixOf(text)
  return prefix === null ? formats : [...formats, `id ${prefix}`]
}

export function fitsFormat(text: string, format: TextFormat): boolean {
  return isId(format) ? prefixOf(text) === format.slice(3) : FORMATS[format].fits(text)
}

export function isId(format: TextFormat): format is `id ${string}` {
  return format.startsWith('id ')
}

/** The code of a zod schema for texts of this format. */
export function formatCode(format: TextFormat): string {
  return isId(format) ? `z.string().startsWith('${format.slice(3)}')` : FORMATS[format].code
}

/** The beginning that tells what an id is of, such as `fil_`. */
function prefixOf(text: string): string | null {
  return /^([a-z]{2,8}_)(?=\w*\d)[\w-]{6,}$/.exec(text)?.[1] ?? null
}
