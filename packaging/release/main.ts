import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describeMaterials } from './bill-of-materials.ts'
import { checkRelease, prepareRelease, ReleaseRefusal, releaseNotes } from './release.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** A maintainer prepares a release; the workflow of releases asks for the rest. */
const COMMANDS: Record<string, (name: string) => void> = {
  prepare,
  check: (tag) => checkRelease(ROOT, tag),
  notes: (tag) => print(releaseNotes(ROOT, tag)),
  materials: () => print(JSON.stringify(describeMaterials(ROOT), null, 2)),
}

function main([command = '', name = '']: string[]): void {
  const run = COMMANDS[command]
  if (run === undefined) throw new ReleaseRefusal('Usage: npm run release -- prepare <version>')
  run(name)
}

function prepare(version: string): void {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' })
  if (changed !== '') throw new ReleaseRefusal('There are changes without a commit. Commit them first.')
  prepareRelease(ROOT, version, new Date().toISOString().slice(0, 10))
  execFileSync('npm', ['run', '-s', 'fixtures', version], { cwd: ROOT, stdio: 'inherit' })
  print(`Read the changes, and then:
  git add test/upgrades/released
  git commit -am "Release ${version}"
  git tag v${version}
  git push --follow-tags origin main v${version}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ReleaseRefusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
