import { globSync } from 'node:fs'
import { dirname } from 'node:path'

const names = globSync('*/main.ts', { cwd: import.meta.dirname })
  .map(dirname)
  .sort()
const [name = ''] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs the example of this name, or lists all. */
if (names.includes(name)) {
  const { default: run } = await import(`./${name}/main.ts`)
  say(JSON.stringify(await run(say), null, 2))
} else {
  say(`npm run example <name>, with one of: ${names.join(', ')}`)
  process.exitCode = 2
}
