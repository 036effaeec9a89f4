/** The result of one check. */
export interface Finding {
  check: string
  level: 'ok' | 'warn' | 'fail'
  found: string
  /** The advice, as a sentence. */
  fix?: string
  /** The repair that `--fix` can make. */
  repair?: Repair
}

/** A repair that `--fix` makes after a confirmation. */
export interface Repair {
  /** An imperative phrase, such as `make /srv/data/secret.key readable by its owner only`. */
  will: string
  perform(): void
}

type Advice = Pick<Finding, 'fix' | 'repair'>

/** A check that passed. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found }
}

/** A check that passed with a warning. */
export function warn(check: string, found: string, advice: Advice = {}): Finding {
  return { check, level: 'warn', found, ...advice }
}

/** A check that failed; the doctor exits with 7. */
export function fail(check: string, found: string, advice: Advice = {}): Finding {
  return { check, level: 'fail', found, ...advice }
}

/** The code of a Node error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
