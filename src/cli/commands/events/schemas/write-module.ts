import type { TypeTraffic } from '../../../../admin/queries/read-traffic.ts'
import type { ShapeUnion } from '../../../../core/service/shapes/write-schema.ts'
import { writeSchema } from '../../../../core/service/shapes/write-schema.ts'
import { isoTime } from '../../../../core/time.ts'

/** The events of a type, and what was found in them. */
export interface TypedTraffic extends TypeTraffic {
  unions: ReadonlyMap<string, ShapeUnion>
}

const MADE_BY = '// Made by "upshot types generate" from'

const HEAD = [
  `${MADE_BY} the events that came. Make it anew rather than change it.`,
  '// A format or an enumeration is written where at least 50 events prove it.',
]

/** Whether a module was made by this command, so that it may be made anew. */
export function isMade(module: string): boolean {
  return module.startsWith(MADE_BY)
}

/** The text of a module that defines each type. */
export function writeModule(traffic: ReadonlyMap<string, TypedTraffic>, { minShare }: { minShare: number }): string {
  const names = nameTypes([...traffic.keys()])
  const definitions = [...traffic].map(([type, { shape, unions, from, to }]) => {
    const about = `/** Events: ${shape.seen.toLocaleString('en')}, from ${dayOf(from)} to ${dayOf(to)}. */`
    const schema = writeSchema(shape, { minShare, unions }).replaceAll('\n', '\n  ')
    return [about, `export const ${names.get(type)} = defineEvent('${type}', {`, `  data: ${schema},`, '})'].join('\n')
  })
  const helpers = definitions.some((text) => text.includes('storageName'))
    ? 'defineEvent, storageName, z'
    : 'defineEvent, z'
  const imports = `import { ${helpers} } from 'upshot'`
  return `${[HEAD.join('\n'), imports, ...definitions].join('\n\n')}\n`
}

/** `file.created` as `fileCreated`; what is taken or no name gets a number or a word. */
export function nameTypes(types: readonly string[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const type of types) {
    const words = type.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
    const joined = words.map((word, n) => (n === 0 ? lowerFirst(word) : upperFirst(word))).join('')
    const plain = words.length > 1 && /^[a-z]/.test(joined) ? joined : `event${upperFirst(joined)}`
    const taken = new Set(names.values())
    let name = plain
    for (let n = 2; taken.has(name); n++) name = `${plain}${n}`
    names.set(type, name)
  }
  return names
}

function dayOf(moment: number): string {
  return isoTime(moment).slice(0, 10)
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}
