import { describeProgress, isFinished, type Run } from '../../words/runs.ts'

type Shown = Pick<Run, 'status' | 'progress'>

/** How far a run has come, as a bar with words; nothing for a run that says nothing. */
export function ProgressBar({ run, isSmall = false }: { run: Shown; isSmall?: boolean }) {
  const { progress } = run
  if (progress === null || (isSmall && isFinished(run))) return null
  const percent = Math.floor(progress.share * 100)
  const failed = progress.total === 0 ? 0 : Math.min(100, (progress.failed / progress.total) * 100)
  const words = describeProgress(progress, run.status === 'running')
  return (
    <span className={isSmall ? 'progress small' : 'progress'}>
      <svg
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={words}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
      >
        <title>{words}</title>
        <rect className="rail" width="100" height="6" />
        <rect className="fill" width={progress.share * 100} height="6" />
        <rect className="failed" x={progress.share * 100 - failed} width={failed} height="6" />
      </svg>
      <span className="quiet">{isSmall ? `${percent} %` : `${percent} % · ${words}`}</span>
    </span>
  )
}
