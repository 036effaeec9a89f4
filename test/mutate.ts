import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAst } from 'vite'
import { LONG } from '../vitest.config.ts'

/*
 * Breaks places of the code at random, one at a time, and runs tests until one of them fails. Those
 * that name what is declared beside the place come first. Then come those whose imports lead to it
 * most directly. The script ends with 1 and a list if no test found a change. It works on a copy of
 * the last commit: `npm run mutate -- --count 20`. A change that a test finds takes ten seconds.
 * Another one takes minutes, for all tests are asked. With `--near 50`, only that many of the short
 * ones are.
 */

interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string; title: string }[] }[]
}
interface Change {
  file: string
  line: number
  start: number
  end: number
  was: string
  is: string
}
type Syntax = { type: string; start: number; end: number } & Record<string, unknown>

const ROOT = join(import.meta.dirname, '..')
/** Words and pictures, which people judge. */
const LEFT_OUT = ['src/dashboard/**', 'src/**/*.js', 'src/sandbox/pages/**']
/** The opposite of each. A tie, as `<` and `<=` differ by, is seldom of any consequence. */
const SWAPPED: Record<string, string> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
}

/** Statements without which the program does the same, if later or with more memory. */
const HINTS = /^(clearTimeout|clearInterval|await (sleep|pause)|[\w.#?]+\.unref)\(/
/** Numbers from here on are sizes and times; another one does as well. */
const TUNING = 10

/** Tests that are asked at first. */
const FEW = 8

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'src/**/*.ts' },
    near: { type: 'string', default: 'Infinity' },
  },
})

/** Numbers from 0 to 1, always the same for a seed. */
function numbersOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Every change of a file that leaves it a program. */
function listChanges(file: string): Change[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const changes: Change[] = []
  const change = ({ start, end }: { start: number; end: number }, is: string) =>
    changes.push({ file, line: text.slice(0, start).split('\n').length, start, end, was: text.slice(start, end), is })
  const visit = (node: Syntax) => {
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
      const [left, right] = [node.left as Syntax, node.right as Syntax]
      const between = text.slice(left.end, right.start)
      const other = SWAPPED[String(node.operator)]
      if (other) change({ start: left.end, end: right.start }, between.replace(String(node.operator), other))
    }
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      const test = node.test as Syntax
      change(test, `!(${text.slice(test.start, test.end)})`)
    }
    const isHint = HINTS.test(text.slice(node.start, node.end))
    if (node.type === 'ExpressionStatement' && node.directive == null && !isHint) change(node, ';')
    // Code that hands things on may forget one.
    if (node.type === 'CallExpression') {
      const [before, last] = (node.arguments as Syntax[]).slice(-2)
      if (before && last) change({ start: before.end, end: last.end }, '')
    }
    if (node.type === 'ObjectExpression') for (const each of node.properties as Syntax[]) change(each, '...{}')
    if (node.type === 'Literal' && typeof node.value === 'boolean') change(node, String(!node.value))
    // The verdict of a comparison.
    const isSign = /\? -1 : 1$/.test(text.slice(0, node.end))
    if (node.type === 'Literal' && typeof node.value === 'number' && node.value < TUNING && !isSign)
      change(node, `(${node.raw} + 1)`)
    for (const [name, child] of Object.entries(node)) {
      if (name === 'typeAnnotation' || name === 'typeArguments') continue
      for (const each of Array.isArray(child) ? child : [child]) {
        if (typeof each?.type === 'string' && !/^TS(?!As|NonNull|Satisfies)/.test(each.type)) visit(each)
      }
    }
  }
  visit(parseAst(text, { lang: 'ts' }) as unknown as Syntax)
  return changes
}

interface Failure {
  file: string
  /** Its title. Null where the file itself cannot be run. */
  test: string | null
}

/** The files below a folder that a file names, to import or to start them. */
function listNamed(folder: string, file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  return [...text.matchAll(/['"](\.{1,2}\/[^'"\n]+\.(?:js|ts))['"]/g)]
    .map(([, name = '']) => relative(folder, join(folder, dirname(file), name)))
    .filter((named) => existsSync(join(folder, named)))
}

/** All tests: first those beside the mirror of a file, then those whose imports soon lead to it. */
function listTests(users: Map<string, string[]>, file: string): string[] {
  const steps = new Map([[file, 0]])
  for (const [name, count] of steps) {
    for (const user of users.get(name) ?? []) if (!steps.has(user)) steps.set(user, count + 1)
  }
  const declared = /^(?: {2})?(?:export |async |readonly )*(?:function )?(\w{6,})(?: = |[(<])/gm
  const names = new Set([...readFileSync(join(ROOT, file), 'utf8').matchAll(declared)].map(([, name = '']) => name))
  const countNames = (test: string) => {
    const words = new Set(readFileSync(join(ROOT, test), 'utf8').match(/\w{6,}/g))
    return [...names].filter((name) => words.has(name)).length
  }
  const mirrored = file.replace(/^src/, 'test').replace(/ts$/, 'test.ts')
  const rank = (test: string) => {
    const count = steps.get(test) ?? 1_000
    if (test === mirrored || count === 1_000) return test === mirrored ? 0 : count
    return (dirname(test) === dirname(mirrored) ? count / 100 : count) / (1 + countNames(test))
  }
  const tests = [...users.keys(), ...[...users.values()].flat()].filter((name) => name.endsWith('.test.ts'))
  const ranks = new Map(tests.map((test) => [test, rank(test)]))
  return [...ranks].toSorted(([, one], [, other]) => one - other).map(([test]) => test)
}

/** A test of some files that fails; null where all pass. A run that never ends fails, too. */
function findFailure(copy: string, files: readonly string[], named: readonly string[] = []): Failure | null {
  const report = join(copy, 'mutate.json')
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const config = isLong(files[0] as string) ? ['--config', 'vitest.long.config.ts'] : []
  const output = ['--reporter=json', `--outputFile=${report}`]
  rmSync(report, { force: true })
  const args = [vitest, 'run', ...files, ...named, ...config, '--bail=1', ...output]
  const timeout = files.length > FEW ? 1_200_000 : 300_000
  const { status } = spawnSync(process.execPath, args, { cwd: copy, timeout, killSignal: 'SIGKILL' })
  if (status === 0) return null
  if (!existsSync(report)) return { file: files[0] as string, test: null }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find((each) => each.status === 'failed')
    if (failed) return { file: relative(copy, name), test: failed.title }
  }
  const broken = testResults.find((each) => each.status === 'failed')
  return { file: relative(copy, broken?.name ?? copy), test: null }
}

function isLong(file: string): boolean {
  return LONG.some((pattern) => matchesGlob(file, pattern))
}

/** Asks a few tests beside the change, then the other short ones, and the long ones at the end. */
function findTest(copy: string, tests: readonly string[]): Failure | null {
  const short = tests.filter((test) => !isLong(test)).slice(0, Number(values.near))
  const long = values.near === 'Infinity' ? tests.filter(isLong) : []
  for (const files of [short.slice(0, FEW), short.slice(FEW, 6 * FEW), short.slice(6 * FEW), long]) {
    const failure = files.length === 0 ? null : findFailure(copy, files)
    if (failure !== null) return failure
  }
  return null
}

/** A test that fails without the change, too, has not found it. */
function passes(copy: string, { file, test }: Failure): boolean {
  const named = test === null ? [] : ['-t', test.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')]
  return findFailure(copy, [file], named) === null
}

const random = numbersOf(Number(values.seed))
const changes = globSync(values.only, { cwd: ROOT, exclude: LEFT_OUT })
  .filter((path) => path.endsWith('.ts'))
  .toSorted()
  .flatMap(listChanges)
const copy = mkdtempSync(join(tmpdir(), 'upshot-mutate-'))
execFileSync('git', ['worktree', 'add', '--quiet', '--detach', '--force', copy], { cwd: ROOT })
// No commit has these.
for (const built of ['node_modules', 'dist']) symlinkSync(join(ROOT, built), join(copy, built))
const print = (text: string) => process.stdout.write(`${text}\n`)
const users = new Map<string, string[]>()
for (const name of globSync('{src,test,workflows}/**/*.{js,ts}', { cwd: ROOT })) {
  for (const named of listNamed(ROOT, name)) users.set(named, [...(users.get(named) ?? []), name])
}
const missed: string[] = []
try {
  print(`${values.count} of ${changes.length} changes, seed ${values.seed}`)
  for (let number = 1; number <= Number(values.count); number++) {
    const { file, line, start, end, was, is } = changes[Math.floor(random() * changes.length)] as Change
    const short = (code: string) => JSON.stringify(code.replace(/\s+/g, ' ').slice(0, 60))
    const told = `${number}. ${file}:${line}  ${short(was)} → ${short(is)}`
    print(told)
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(0, start) + is + text.slice(end))
    const found = findTest(copy, listTests(users, file))
    writeFileSync(path, text)
    const isFound = found !== null && passes(copy, found)
    if (!isFound) missed.push(found === null ? told : `${told}: ${found.file} fails without it, too`)
    print(isFound ? `   found by ${found.file} > ${found.test ?? 'all'}` : '   NOT FOUND')
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', copy], { cwd: ROOT })
}
print(`${Number(values.count) - missed.length} found, ${missed.length} not found`)
for (const each of missed) print(each)
process.exitCode = missed.length === 0 ? 0 : 1
