import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAst } from 'vite'

/*
 * Breaks places of the code at random, one at a time, and runs the tests until one of them fails.
 * A change that no test finds is printed with its line, and the script ends with 1. It works on a
 * copy of the last commit. A change takes minutes: `npm run mutate -- --count 20`.
 */

interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
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
const SWAPPED: Record<string, string> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '+': '-', '-': '+', '&&': '||', '||': '&&' },
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'src/**/*.ts' },
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
    if (node.type === 'ExpressionStatement' && node.directive == null) change(node, ';')
    if (node.type === 'Literal' && typeof node.value === 'boolean') change(node, String(!node.value))
    if (node.type === 'Literal' && typeof node.value === 'number') change(node, `(${node.raw} + 1)`)
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
  /** Null where the file itself cannot be run. */
  test: string | null
}

/** A test that fails; null where all pass. */
function findFailure(copy: string, args: readonly string[]): Failure | null {
  const report = join(copy, 'mutate.json')
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const output = ['--reporter=json', `--outputFile=${report}`]
  const { status } = spawnSync(process.execPath, [vitest, ...args, '--run', '--bail=1', ...output], { cwd: copy })
  if (status === 0) return null
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find((each) => each.status === 'failed')
    if (failed) return { file: relative(copy, name), test: failed.fullName }
  }
  const broken = testResults.find((each) => each.status === 'failed')
  return { file: relative(copy, broken?.name ?? copy), test: null }
}

/** Asks the tests that import the file, the long ones among them, and then all the rest. */
function findTest(copy: string, file: string): (Failure & { config: string[] }) | null {
  for (const args of [['related', file], []]) {
    for (const config of [[], ['--config', 'vitest.long.config.ts']]) {
      const failure = findFailure(copy, [...args, ...config])
      if (failure !== null) return { ...failure, config }
    }
  }
  return null
}

/** A test that fails without the change, too, has not found it. */
function passes(copy: string, { file, test, config }: Failure & { config: string[] }): boolean {
  const named = test === null ? [] : ['-t', test.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')]
  return findFailure(copy, [file, ...named, ...config]) === null
}

const random = numbersOf(Number(values.seed))
const changes = globSync(values.only, { cwd: ROOT, exclude: LEFT_OUT }).toSorted().flatMap(listChanges)
const copy = mkdtempSync(join(tmpdir(), 'upshot-mutate-'))
execFileSync('git', ['worktree', 'add', '--quiet', '--detach', '--force', copy], { cwd: ROOT })
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
const print = (text: string) => process.stdout.write(`${text}\n`)
let missed = 0
try {
  print(`${values.count} of ${changes.length} changes, seed ${values.seed}`)
  for (let number = 1; number <= Number(values.count); number++) {
    const { file, line, start, end, was, is } = changes[Math.floor(random() * changes.length)] as Change
    const short = (code: string) => JSON.stringify(code.replace(/\s+/g, ' ').slice(0, 60))
    print(`${number}. ${file}:${line}  ${short(was)} → ${short(is)}`)
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(0, start) + is + text.slice(end))
    const found = findTest(copy, file)
    writeFileSync(path, text)
    const isFound = found !== null && passes(copy, found)
    if (!isFound) missed++
    if (isFound) print(`   found by ${found.file} > ${found.test ?? 'all'}`)
    else print(found === null ? '   NOT FOUND' : `   NOT FOUND: ${found.file} fails without it, too`)
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', copy], { cwd: ROOT })
}
print(`${Number(values.count) - missed} found, ${missed} not found`)
process.exitCode = missed === 0 ? 0 : 1
