import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useMay } from '../../state/session.ts'
import { OneFolder } from './one-folder.tsx'
import { usePlace } from './place.ts'
import { TwoFolders } from './two-folders.tsx'

/** The files of the service, one folder or two side by side, asked of its Files API. */
export default function Files() {
  const mayLook = useMay('operator')
  if (mayLook) return <Browser />
  return (
    <div className="stack">
      <PageHead title="Files" />
      <Empty title="Names of files are payload.">
        <p>A viewer does not see them. They need the role operator.</p>
      </Empty>
    </div>
  )
}

function Browser() {
  const place = usePlace()
  const { beside } = place
  return beside === null ? <OneFolder place={place} /> : <TwoFolders place={place} beside={beside} />
}
