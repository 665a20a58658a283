/**
 * Changed files as a tree of folders. A folder that holds nothing but one folder is shown with it as one. Pure.
 */

export interface TreeFolder<File> {
  /** One or several parts of a path. */
  name: string;
  path: string;
  folders: TreeFolder<File>[];
  files: { name: string; file: File }[];
}

export function fileTree<File extends { path: string }>(files: readonly File[]): TreeFolder<File> {
  const root: TreeFolder<File> = { name: "", path: "", folders: [], files: [] };
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? file.path;
    let folder = root;
    for (const part of parts) folder = childOf(folder, part);
    folder.files.push({ name, file });
  }
  return { ...root, folders: root.folders.map(joined) };
}

function childOf<File>(folder: TreeFolder<File>, name: string): TreeFolder<File> {
  // Files come in the order of their paths, so that it is the newest one, if it is there.
  const last = folder.folders.findLast((each) => each.name === name);
  if (last) return last;
  const made = { name, path: folder.path === "" ? name : `${folder.path}/${name}`, folders: [], files: [] };
  folder.folders.push(made);
  return made;
}

function joined<File>(folder: TreeFolder<File>): TreeFolder<File> {
  const [only, ...others] = folder.folders;
  if (only && others.length === 0 && folder.files.length === 0) {
    return joined({ ...only, name: `${folder.name}/${only.name}` });
  }
  return { ...folder, folders: folder.folders.map(joined) };
}
