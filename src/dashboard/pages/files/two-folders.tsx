import { Link } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { shellWord } from '../../words/shell-word.ts'
import { FilePanel } from './file-panel.tsx'
import { Folder } from './folder.tsx'
import { AccountChoice, Crumbs, ReadAgain, Storages } from './folder-parts.tsx'
import { markEntries } from './mark-entries.ts'
import { firstSide, hrefOf, type OneSide, type Place, type Side, secondSide } from './place.ts'
import { askOf, type FolderQuery, useFolder } from './use-folder.ts'

/** Two folders side by side, each entry with how it stands beside the other. */
export function TwoFolders({ place, beside }: { place: Place; beside: Side }) {
  const [left, right] = [firstSide(place), secondSide(place, beside)]
  const one = useFolder(left)
  const other = useFolder(right)
  const [here, there] = [targetOf(place), targetOf(beside)]
  const looked = [left, right].find(({ file }) => file !== '')
  return (
    <div className="stack">
      <PageHead title="Files" isStill>
        <AccountChoice place={place} />
        <Link href={hrefOf({ ...place, beside: null })} className="button">
          Stop comparing
        </Link>
        <ReadAgain folders={[one, other]} />
        <CopyAs cli={`upshot files diff ${here} ${there}`} url={urlOf('GET /files/:storage', askOf(left))} />
      </PageHead>
      {looked && <FilePanel key={`${looked.storage} ${looked.file}`} side={looked} />}
      <div className="sides">
        <FolderBeside side={left} folder={one} other={other} />
        <FolderBeside side={right} folder={other} other={one} />
      </div>
      <p className="quiet">
        Names and sizes of these two folders are compared. The command line compares what is below them, and contents.
      </p>
    </div>
  )
}

function FolderBeside({ side, folder, other }: { side: OneSide; folder: FolderQuery; other: FolderQuery }) {
  return (
    <div className="stack">
      <Storages side={side} />
      <Crumbs side={side} />
      <Folder folder={folder} side={side} marks={markEntries(folder, other)} />
    </div>
  )
}

function targetOf({ storage, path }: Side): string {
  return shellWord(`${storage}:${path}`)
}
