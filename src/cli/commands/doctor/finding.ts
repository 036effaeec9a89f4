import type { DoctorFinding } from '../../../admin/ports/surroundings.ts'

/** The result of one check, and the repair that `--fix` can make. */
export interface Finding extends DoctorFinding {
  repair?: Repair
}

/** A repair that `--fix` makes after a confirmation. */
export interface Repair {
  /** An imperative phrase, such as `make /srv/data/secret.key readable by its owner only`. */
  will: string
  perform(): void
}

/** `fix`: a sentence. */
type Advice = Partial<Pick<Finding, 'repair'>> & { fix?: string }

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found, fix: null }
}

export function warn(check: string, found: string, { fix, ...rest }: Advice = {}): Finding {
  return { check, level: 'warn', found, fix: fix || null, ...rest }
}

/** A check that failed; the doctor exits with 7. */
export function fail(check: string, found: string, advice: Advice = {}): Finding {
  return { ...warn(check, found, advice), level: 'fail' }
}

/** The code of a Node error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
