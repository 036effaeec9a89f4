/** One thing that the doctor looked at. */
export interface Finding {
  check: string
  level: 'ok' | 'warn' | 'fail'
  found: string
  /** What to do; only where something is to be done. */
  fix?: string
  /** What the doctor can do about it by itself. */
  repair?: Repair
}

export interface Repair {
  /** Such as `make /srv/data/secret.key readable by its owner only`. */
  will: string
  perform(): void
}

type Advice = Pick<Finding, 'fix' | 'repair'>

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found }
}

export function warn(check: string, found: string, advice: Advice = {}): Finding {
  return { check, level: 'warn', found, ...advice }
}

export function fail(check: string, found: string, advice: Advice = {}): Finding {
  return { check, level: 'fail', found, ...advice }
}

/** The code of a failure of Node's own, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault'
}
