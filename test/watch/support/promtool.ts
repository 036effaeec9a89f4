import { spawnSync } from 'node:child_process'

/** Whether Debian's Prometheus, with promtool, is installed here. */
export const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0)

/** Tests that need it are left out elsewhere, and say why. */
export const WITH_PROMETHEUS = hasPrometheus ? '' : ' (left out: Prometheus and promtool are not installed)'

/** Runs promtool; the answer is everything that it says, and its exit code. */
export function promtool(args: string[], input = '', cwd = process.cwd()): { status: number | null; says: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, cwd, encoding: 'utf8' })
  return { status, says: `${stdout}${stderr}`.trim() }
}
