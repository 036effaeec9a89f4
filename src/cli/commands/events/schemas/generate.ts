import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { UpshotError } from '../../../../core/errors.ts'
import { chooseUnions, findSplits, foldSplits } from '../../../../core/service/shapes/find-unions.ts'
import { outlineOf } from '../../../../core/service/shapes/outline.ts'
import { type ShapeUnion, writeSchema } from '../../../../core/service/shapes/write-schema.ts'
import type { StorageSpellings } from '../../../../core/service/storage.ts'
import type { Cli } from '../../../command.ts'
import { parseSince } from '../../../input/parse-option.ts'
import type { Operations } from '../../../open/operations.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatShapes, SHAPES_FILE } from './shapes-file.ts'
import { foldTraffic, readSince, readSpellings, readTraffic, type TrafficChoice, type TypeTraffic } from './traffic.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[types...]', 'event types or families, such as file.created or file.*; default: all that came')
    .option('--since <when>', 'only events received since then: a duration before now, or an ISO 8601 time', parseSince)
    .option('-o, --out <module>', `module to write, with ${SHAPES_FILE} beside it; default: standard output`)
    .option('--min-share <share>', 'leave out what fewer events show, such as 0.1%', parseShare, 0)
    .action((types, { since: asked, out: file, minShare }) =>
      project.withOperations(async (operations) => {
        const choice = { types, since: readSince(asked) }
        const spellings = await readSpellings(operations)
        const traffic = await foldTraffic(operations, choice, spellings)
        if (traffic.size === 0) throw noEvents()
        const typed = await findTypes(operations, choice, { traffic, spellings })
        const module = writeModule(typed, { minShare })
        const outlines = new Map([...typed].map(([type, { shape }]) => [type, outlineOf(shape)]))
        if (file !== undefined) {
          const path = resolve(project.root, file)
          if (existsSync(path) && !isMade(readFileSync(path, 'utf8')))
            await confirm(out, { will: `overwrite ${file}, which this command did not make` })
          if (!out.given.dryRun) {
            mkdirSync(dirname(path), { recursive: true })
            writeFileSync(path, module)
            writeFileSync(join(dirname(path), SHAPES_FILE), formatShapes(outlines))
          }
        }
        const seen = [...typed].map(([type, { shape }]) => ({ type, events: shape.seen }))
        out.result({ file: file ?? null, module, types: seen }, () => (file === undefined ? [module.trimEnd()] : []))
        const count = seen.reduce((sum, { events }) => sum + events, 0)
        out.note(`Types: ${seen.length}. Events: ${count.toLocaleString('en')}.`)
      }),
    )
}

/** Looks a second time where a word may decide which names an object has. */
async function findTypes(
  operations: Operations,
  choice: TrafficChoice,
  {
    traffic,
    spellings,
  }: { traffic: ReadonlyMap<string, TypeTraffic>; spellings: ReadonlyMap<string, StorageSpellings> },
): Promise<Map<string, TypedTraffic>> {
  const splits = new Map([...traffic].map(([type, { shape }]) => [type, findSplits(shape)]))
  const varied = [...splits].filter(([, each]) => each.length > 0).map(([type]) => type)
  if (varied.length > 0)
    for await (const { type, account, data } of readTraffic(operations, { ...choice, types: varied }))
      foldSplits(splits.get(type) ?? [], data, spellings.get(account))
  return new Map([...traffic].map(([type, each]) => [type, { ...each, unions: chooseUnions(splits.get(type) ?? []) }]))
}

/** Reads a share such as `0.1%` or `0.001`. */
function parseShare(text: string): number {
  const share = /^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) / (text.endsWith('%') ? 100 : 1) : Number.NaN
  if (share >= 0 && share < 0.5) return share
  throw new InvalidArgumentError('Give a share below one half, such as 0.1% or 0.001.')
}

function noEvents(): UpshotError {
  return new UpshotError('not_found', 'No stored event of these types has its body.', {
    fix: 'Look further back with --since 90d, or send one with "upshot trigger file.created".',
  })
}

interface TypedTraffic extends TypeTraffic {
  unions: ReadonlyMap<string, ShapeUnion>
}

const MADE_BY = '// Made by "upshot types generate" from'

const HEAD = [
  `${MADE_BY} the events that came. Make it anew rather than change it.`,
  '// A format or an enumeration is written where at least 50 events prove it.',
]

/** Whether a module was made by this command, so that it may be made anew. */
function isMade(module: string): boolean {
  return module.startsWith(MADE_BY)
}

function writeModule(traffic: ReadonlyMap<string, TypedTraffic>, { minShare }: { minShare: number }): string {
  const names = nameTypes([...traffic.keys()])
  const definitions = [...traffic].map(([type, { shape, unions, from, to }]) => {
    const about = `/** Events: ${shape.seen.toLocaleString('en')}, from ${from.slice(0, 10)} to ${to.slice(0, 10)}. */`
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

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}
