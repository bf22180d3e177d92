"""``Calls`` has a method for each call. It is generated from the table of calls, src/shared/calls.ts."""

from __future__ import annotations

from typing import Any, Optional

from .asking import Asking, Grid, Progress, Rows, Table, What


class Calls(Asking):
    """The calls of a dataset: what, where, when, how.

    Members have the names of docs/asking.md. A value is a number, a text, a list, a numpy array or scalar, a slice for a
    range (``x=slice(0, 1)``), or None for what is not given.
    """

    _kinds = {
        "values": "rows",
        "grid": "grid",
        "nodes": "grid",
        "find": "rows",
        "paths": "rows",
        "flow_map": "grid",
        "dispersion": "table",
        "statistics": "table",
        "spectrum": "table",
        "correlation": "table",
        "around": "table",
        "structure_functions": "table",
        "structures": "table",
    }

    def values(
        self,
        what: Optional[What] = None,
        points: Any = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        method: Optional[str] = None,
        derivatives: Optional[str] = None,
        time_method: Optional[str] = None,
        filter: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
        progress: Progress = False,
    ) -> Any:
        """Quantities at points.

        One row for each point. u, p, A, grad(p), hess(p), lap(u), hess(u) and lap(A) are bit-identical to the
        SOAP operations.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            points: Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of
                CSV, npy or float32 octets (with the other members in the address), or in Python an array; or
                {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n,
                "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed":
                0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four). Required.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            time_method: Interpolation in time. One of PCHIP, nearest. Default: PCHIP.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.
            progress: True shows a bar if tqdm is installed; a function gets the counts of finished and of all
                points.

        Returns:
            One quantity is an array of shape (…), (…, 3) or (…, 3, 3), where (…) is that of the points; a
            list of quantities is a dict of arrays. Several times come first. Points have the shape (…, 3),
            with time="each" (…, 4); any number of them is sent in parts.
        """
        return self._call(
            "values",
            what,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "method": method, "derivatives": derivatives, "time_method": time_method, "filter": filter, "level": level, "units": units},
            progress,
        )

    def grid(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        samples: Any = None,
        time: Any = None,
        frame: Any = None,
        method: Optional[str] = None,
        derivatives: Optional[str] = None,
        time_method: Optional[str] = None,
        filter: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Grid:
        """Samples in a volume, on a plane or on a line.

        A plane if one of x, y, z is a number, a line if two are, otherwise a volume.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            samples: Number of samples: one for all axes, or one for each axis with a range, x first. Samples
                lie at the midpoints of equal intervals; over a whole axis they start at its first node.
                Default: the number of nodes of the axis, at most 64.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            time_method: Interpolation in time. One of PCHIP, nearest. Default: PCHIP.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            A grid: arrays by name, coordinates, units, to_xarray() and plot().
        """
        return self._call(
            "grid",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "samples": samples, "time": time, "frame": frame, "method": method, "derivatives": derivatives, "time_method": time_method, "filter": filter, "level": level, "units": units},
        )

    def nodes(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        over: Any = None,
        mean_time: Any = None,
        level: Any = None,
        isovalue: Optional[float] = None,
        units: Optional[str] = None,
    ) -> Grid:
        """Stored nodes of a region.

        Stored fields, or any quantity at nodes. An h5 of stored fields has the layout of JHTDB cutouts; an
        xmf, written with it, opens it in ParaView (Answers in docs/asking.md).

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            isovalue: Returns at least the corners of every cell that the isosurface of this value crosses.
                Nodes far from it may be NaN (null) if the dataset has levels.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            A grid: arrays by name, coordinates, units, to_xarray() and plot().
        """
        return self._call(
            "nodes",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "over": over, "mean_time": mean_time, "level": level, "isovalue": isovalue, "units": units},
        )

    def find(
        self,
        what: Optional[What] = None,
        *,
        where: Optional[str] = None,
        limit: Optional[int] = None,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        over: Any = None,
        mean_time: Any = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Rows:
        """Nodes where a condition holds.

        Rows of i, j, k, x, y, z and the quantities in what, largest first by the first quantity; without
        what, in node order. Each row is a node, and the first ten usually lie in one vortex: for ten vortices
        ask structures. total counts the nodes where the condition holds; missing counts those where the first
        quantity has no value or is infinite: they are not listed.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: none:
                rows are in node order.
            where: Condition such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; rms
                is about zero, so that of fluctuations is rms(fluc(e)). Statistics leaves out, and counts, the
                nodes that fail it.
            limit: Maximum number of rows. Default: 1000.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            Columns as arrays by name.
        """
        return self._call(
            "find",
            what,
            {"where": where, "limit": limit, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "over": over, "mean_time": mean_time, "level": level, "units": units},
        )

    def paths(
        self,
        what: Optional[What] = None,
        points: Any = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        derivatives: Optional[str] = None,
        method: Optional[str] = None,
        integrator: Optional[str] = None,
        step: Optional[float] = None,
        tolerance: Optional[float] = None,
        every: Optional[int] = None,
        diffusivity: Optional[float] = None,
        seed: Optional[int] = None,
        walls: Optional[str] = None,
        open_faces: Optional[str] = None,
        drag: Optional[float] = None,
        frozen: Optional[bool] = None,
        residence: Any = None,
        exit_from: Any = None,
        last: Optional[bool] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Rows:
        """Particles and quantities along their paths.

        Rows of particle, t, x, y, z, exit and the quantities in what along each path. Positions continue past
        periodic boundaries. exit is the time at which the particle left through an open face; if it did not,
        null in JSON and NaN elsewhere.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: none.
            points: Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of
                CSV, npy or float32 octets (with the other members in the address), or in Python an array; or
                {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n,
                "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed":
                0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four). Required.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Required.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            integrator: Time integration scheme for particles. One of rk4, heun, dopri5. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the time step of the
                simulation if the dataset states it, else a tenth of the stored interval.
            tolerance: Error tolerance of a path with dopri5, as a distance. Default: 1e-6 of the smallest
                spacing.
            every: Number of steps between records. Default: 1.
            diffusivity: Brownian particles: after each step of rk4 or heun, a random displacement of variance
                2*diffusivity*step along each axis, also backwards. Default: none.
            seed: Seed of the random displacements; the number of a particle is its place in the points of the
                question. Default: 0.
            walls: What a particle does at a wall: reflect (with diffusivity), or stop there, with the time as
                its exit. Default: reflect with diffusivity; else particles are held at walls.
            open_faces: What a particle that leaves through an open face does: stop, or fail the question.
                Default: stop.
            drag: Response time of inertial particles with Stokes drag (integrator heun, forward in time).
                Points may have initial velocities vx, vy, vz. Default: fluid particles.
            frozen: Streamlines: particles follow the velocity field frozen at the start of the interval; the
                interval may end at any time. Default: false.
            residence: Region {x, y, z} of ranges first:last in length units; each record then has the time
                spent in it so far. Between two recorded steps (see every) a path counts as straight, also
                with last. Default: none.
            exit_from: Region as in residence; each record then has the time at which the path first left it
                (null before), and censored, which is 1 until then. Default: none.
            last: Record only the end of each path. Default: false.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            Columns as arrays by name.
        """
        return self._call(
            "paths",
            what,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "derivatives": derivatives, "method": method, "integrator": integrator, "step": step, "tolerance": tolerance, "every": every, "diffusivity": diffusivity, "seed": seed, "walls": walls, "open_faces": open_faces, "drag": drag, "frozen": frozen, "residence": residence, "exit_from": exit_from, "last": last, "level": level, "units": units},
        )

    def flow_map(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        samples: Any = None,
        time: Any = None,
        method: Optional[str] = None,
        derivatives: Optional[str] = None,
        integrator: Optional[str] = None,
        step: Optional[float] = None,
        level: Any = None,
    ) -> Grid:
        """Flow map, its gradient and its stretching.

        Particles start on a plane or in a box; what lists some of map, gradient, eigenvalues, ftle. The
        gradient is integrated by the variational equation along each path.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: map,
                gradient, ftle.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            samples: Number of samples: one for all axes, or one for each axis with a range, x first. Samples
                lie at the midpoints of equal intervals; over a whole axis they start at its first node.
                Default: the number of nodes of the axis, at most 64.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Required.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            integrator: Time integration scheme for particles. One of rk4, heun. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the time step of the
                simulation if the dataset states it, else a tenth of the stored interval.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.

        Returns:
            A grid: arrays by name, coordinates, units, to_xarray() and plot().
        """
        return self._call(
            "flow_map",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "samples": samples, "time": time, "method": method, "derivatives": derivatives, "integrator": integrator, "step": step, "level": level},
        )

    def dispersion(
        self,
        points: Any = None,
        *,
        what: Optional[What] = None,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        derivatives: Optional[str] = None,
        method: Optional[str] = None,
        integrator: Optional[str] = None,
        step: Optional[float] = None,
        tolerance: Optional[float] = None,
        every: Optional[int] = None,
        diffusivity: Optional[float] = None,
        seed: Optional[int] = None,
        walls: Optional[str] = None,
        open_faces: Optional[str] = None,
        orders: Any = None,
        remove: Optional[str] = None,
        increments: Any = None,
        origins: Optional[str] = None,
        bins: Optional[int] = None,
        range: Any = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Statistics of paths.

        Displacement, autocorrelation, and statistics of pairs, tetrads, increments and values of what at each
        recorded time; the paths themselves are not sent.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u.
            points: Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of
                CSV, npy or float32 octets (with the other members in the address), or in Python an array; or
                {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n,
                "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed":
                0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four). Required.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Required.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            integrator: Time integration scheme for particles. One of rk4, heun, dopri5. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the time step of the
                simulation if the dataset states it, else a tenth of the stored interval.
            tolerance: Error tolerance of a path with dopri5, as a distance. Default: 1e-6 of the smallest
                spacing.
            every: Number of steps between records. Default: 1.
            diffusivity: Brownian particles: after each step of rk4 or heun, a random displacement of variance
                2*diffusivity*step along each axis, also backwards. Default: none.
            seed: Seed of the random displacements; the number of a particle is its place in the points of the
                question. Default: 0.
            walls: What a particle does at a wall: reflect (with diffusivity), or stop there, with the time as
                its exit. Default: reflect with diffusivity; else particles are held at walls.
            open_faces: What a particle that leaves through an open face does: stop, or fail the question.
                Default: stop.
            orders: Powers of increments, or of the separations of pairs. Default: 2, 3; for pairs 2.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, none. Default: mean.
            increments: Powers p of Lagrangian increments of what, d = q(t0 + lag) - q(t0); one that is not
                whole takes |d|^p. Default: none.
            origins: Start times t0 of increments: the start, or all records. Default: start.
            bins: Number of bins for histograms over range: of increments, or in dispersion without these of
                what at each time. Default: no histograms.
            range: Values of the first and the last colour; in dispersion and structure_functions, the outer
                edges of the bins. Default: none.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "dispersion",
            what,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "derivatives": derivatives, "method": method, "integrator": integrator, "step": step, "tolerance": tolerance, "every": every, "diffusivity": diffusivity, "seed": seed, "walls": walls, "open_faces": open_faces, "orders": orders, "remove": remove, "increments": increments, "origins": origins, "bins": bins, "range": range, "level": level, "units": units},
        )

    def statistics(
        self,
        what: Optional[What] = None,
        *,
        points: Any = None,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        method: Optional[str] = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        where: Optional[str] = None,
        reduce: Any = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        by: Optional[int] = None,
        fold: Optional[str] = None,
        odd: Any = None,
        level: Any = None,
        units: Optional[str] = None,
        u_tau: Optional[float] = None,
    ) -> Table:
        """Moments, histograms and other reductions.

        Over the nodes of a region or over points; all reductions are computed in one pass.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field; with reduce none.
            points: Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of
                CSV, npy or float32 octets (with the other members in the address), or in Python an array; or
                {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n,
                "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed":
                0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four).
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            where: Condition such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; rms
                is about zero, so that of fluctuations is rms(fluc(e)). Statistics leaves out, and counts, the
                nodes that fail it.
            reduce: List of {"moments": q, "order": 4} (order up to 8), {"quantiles": q, "at": [p, …]},
                {"covariance": [q, …]}, {"histogram": q, "bins": n, "range": [a, b]}, {"joint": [q1, q2],
                "bins": [n, m], "range": [[a, b], [c, d]]}, {"conditional": q, "on": c, "bins": n, "range":
                [a, b]} (or on [c1, c2], with bins and range for each), {"extremes": q, "count": n, "apart":
                r} (the n highest and the n lowest, at least r apart), budget:k, and budget:uv for any
                Reynolds stress. Without range, bins cover all values. Default: the moments of each quantity
                in what; variance is rms(fluc(q))^2.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            by: Number of stored times per block. Moments, covariances and conditional means over t then also
                have standard errors, estimated from the series of block means. Default: no standard errors.
            fold: Averages the two halves of an axis, by a mirror at its middle or a rotation by 180 degrees
                about z (for the axis z, about y); components change sign accordingly. One of x:mirror,
                y:mirror, z:mirror, x:rotation, y:rotation, z:rotation. Default: no folding.
            odd: Further fields that change sign under fold. Default: none.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.
            u_tau: Friction velocity for wall units. Default: from the mean of u.x at both walls.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "statistics",
            what,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "method": method, "derivatives": derivatives, "filter": filter, "where": where, "reduce": reduce, "over": over, "mean_time": mean_time, "weights": weights, "by": by, "fold": fold, "odd": odd, "level": level, "units": units, "u_tau": u_tau},
        )

    def spectrum(
        self,
        what: Optional[What] = None,
        *,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        terms: Any = None,
        kind: Optional[str] = None,
        axis: Any = None,
        cross: Any = None,
        at: Optional[str] = None,
        remove: Optional[str] = None,
        normalise: Optional[str] = None,
        segment: Optional[int] = None,
        overlap: Optional[int] = None,
        window: Optional[str] = None,
        detrend: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Spectra of whole frames.

        Sums of modes over shells, rings or lines, with the turbulence scales of the velocity (in JSON; CSV
        has the spectra alone); frequency spectra are means over segments in time.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            terms: In spectra: transfer, flux, dissipation, helicity, cross:q. In structure functions:
                longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom. Default: in spectra the energy;
                in structure functions all.
            kind: Sums over shells of a cube or rings in planes, lines, modes of several axes, frequencies, or
                wavenumbers along one axis with frequencies. One of shell, plane, line, modes, frequency,
                wavenumber_frequency. Default: shell if all axes are periodic, else plane, else line.
            axis: Axis of lines, or normal to planes; axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: the first of several nodes, for spectra
                a periodic one; for planes the open axis; for modes all periodic axes; for structure functions
                all of several nodes, with separations in nodes those that are evenly spaced.
            cross: Two scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).
            at: Fixed position of the first quantity of a pair along an axis that is not in over; the second
                runs over all positions: <conj(A(y0)) B(y)>.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; none for shells, planes, and lines of periodic boxes without over and cross.
            normalise: For lines, modes and frequencies: density E/dk, premultiplied k E/dk, or wavelength:
                premultiplied, with a list of the wavelengths. Default: sums of modes.
            segment: Number of times per segment, or of nodes along an open axis of lines; spectra are
                averaged over segments (Welch). Default: all times, or all nodes.
            overlap: Number of times, or nodes, shared by two successive segments. Default: half a segment.
            window: Window of a segment: (1 - cos(2 pi j/n))/2, or 1. One of hann, none. Default: hann.
            detrend: Subtract from each segment its mean, its least-squares line, or nothing. One of constant,
                linear, none. Default: constant.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "spectrum",
            what,
            {"time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "over": over, "mean_time": mean_time, "weights": weights, "terms": terms, "kind": kind, "axis": axis, "cross": cross, "at": at, "remove": remove, "normalise": normalise, "segment": segment, "overlap": overlap, "window": window, "detrend": detrend, "level": level, "units": units},
        )

    def correlation(
        self,
        what: Optional[What] = None,
        *,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        axis: Any = None,
        cross: Any = None,
        at: Optional[str] = None,
        remove: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Two-point correlations.

        R_ab(r) = <a'(x) b'(x + r)> along an axis (of an open one over the pairs that exist) or over a plane
        of two periodic axes, at each position along the directions that are not averaged; rho is R divided by
        both root mean squares.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            axis: Axis of lines, or normal to planes; axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: the first of several nodes, for spectra
                a periodic one; for planes the open axis; for modes all periodic axes; for structure functions
                all of several nodes, with separations in nodes those that are evenly spaced.
            cross: Two scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).
            at: Fixed position of the first quantity of a pair along an axis that is not in over; the second
                runs over all positions: <conj(A(y0)) B(y)>.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; none for shells, planes, and lines of periodic boxes without over and cross.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "correlation",
            what,
            {"time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "over": over, "mean_time": mean_time, "weights": weights, "axis": axis, "cross": cross, "at": at, "remove": remove, "level": level, "units": units},
        )

    def around(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        points: Any = None,
        where: Optional[str] = None,
        events: Any = None,
        least: Optional[int] = None,
        lag: Any = None,
        orient: Optional[str] = None,
        method: Optional[str] = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Means around events.

        Mean and count of what at each offset, in nodes, from each event, also across periodic boundaries;
        beyond open boundaries values are missing. Events are the nodes where the condition holds, which weigh
        their cells, or events or points, which weigh 1 each. Positions along stretched axes are not averaged:
        the answer has one mean for each.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            points: Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of
                CSV, npy or float32 octets (with the other members in the address), or in Python an array; or
                {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n,
                "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed":
                0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four).
            where: Condition such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; rms
                is about zero, so that of fluctuations is rms(fluc(e)). Statistics leaves out, and counts, the
                nodes that fail it.
            events: What counts as an event, each with weight 1. centres: the centres of structures with at
                least as many nodes as least says. {"highest": q, "count": n, "apart": r}: the n highest nodes
                of q ("lowest": the n lowest), at least r apart; with where, only nodes where it holds.
                Default: the nodes where the condition holds.
            least: Minimum number of nodes of a listed structure. Default: 1.
            lag: Nodes on each side of an event: one number, or one each for x, y and z. Default: 4; 0 along
                stretched axes.
            orient: Rotates offsets, vectors and tensors at each event to the eigenvectors of the strain rate
                (largest eigenvalue first), or so that z is along the vorticity; values are interpolated by
                method. One of strain, omega. Default: the axes of the grid.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "around",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "points": points, "where": where, "events": events, "least": least, "lag": lag, "orient": orient, "method": method, "over": over, "mean_time": mean_time, "weights": weights, "level": level, "units": units},
        )

    def structure_functions(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        method: Optional[str] = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        weights: Optional[str] = None,
        terms: Any = None,
        axis: Any = None,
        orders: Any = None,
        absolute: Any = None,
        bins: Optional[int] = None,
        range: Any = None,
        separations: Any = None,
        remove: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Moments of increments.

        Means over all pairs of nodes along the axes, or over random pairs of points.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: u, or the
                first field.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            terms: In spectra: transfer, flux, dissipation, helicity, cross:q. In structure functions:
                longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom. Default: in spectra the energy;
                in structure functions all.
            axis: Axis of lines, or normal to planes; axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: the first of several nodes, for spectra
                a periodic one; for planes the open axis; for modes all periodic axes; for structure functions
                all of several nodes, with separations in nodes those that are evenly spaced.
            orders: Powers of increments, or of the separations of pairs. Default: 2, 3; for pairs 2.
            absolute: Powers p > 0, whole or not, of absolute increments: <|d|^p> of a scalar or of the
                longitudinal increment of a vector, with its local slope against <|d|^3>. Default: none.
            bins: Number of bins for histograms over range: of increments, or in dispersion without these of
                what at each time. Default: no histograms.
            range: Values of the first and the last colour; in dispersion and structure_functions, the outer
                edges of the bins. Default: none.
            separations: Separations in nodes, as a list, or {lengths, pairs, seed} for pairs of random
                points. Default: 1, 2, 4, … up to half the nodes.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, none. Default: mean.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "structure_functions",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "method": method, "derivatives": derivatives, "filter": filter, "weights": weights, "terms": terms, "axis": axis, "orders": orders, "absolute": absolute, "bins": bins, "range": range, "separations": separations, "remove": remove, "level": level, "units": units},
        )

    def structures(
        self,
        what: Optional[What] = None,
        *,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        frame: Any = None,
        derivatives: Optional[str] = None,
        filter: Optional[str] = None,
        where: Optional[str] = None,
        connectivity: Optional[str] = None,
        least: Optional[int] = None,
        track_overlap: Optional[float] = None,
        labels: Optional[bool] = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Connected sets of nodes where a condition holds.

        One row per structure, largest volume first: volume, centre, bounding box, and the integral, mean and
        extremes of what. For the strongest, sort the rows by the maximum of what. A low threshold joins
        neighbours and a high one leaves out weak structures: try two. Structures continue across periodic
        boundaries. Over several frames, structures that overlap from one frame to the next are linked and
        followed in tracks.

        Args:
            what: Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the
                description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S),
                or name = expression; in flow_map some of map, gradient, eigenvalues, ftle. Default: none.
            x: Along x: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            y: Along y: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            z: Along z: a position, or a range first:last, inclusive, in length units. Default: the whole
                axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride with end excluded; on a periodic
                axis the range may continue for up to one period past the boundary. Default: the whole axis.
            time: A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored
                times elsewhere. Calls that track particles take an interval first:last, backwards if last is
                smaller. With each, points have a time of their own: values evaluates each point then, and
                paths with each:D follows it for a duration D from then. Default: the stored time, if there is
                only one.
            frame: Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride
                with end excluded, or all.
            derivatives: Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: the
                method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole
                frames), or box (the mean over a cube around each point).
            where: Condition such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; rms
                is about zero, so that of fluctuations is rms(fluc(e)). Statistics leaves out, and counts, the
                nodes that fail it. Required.
            connectivity: Neighbours of a node: 6 share a face, 18 also an edge, 26 also a corner. Default:
                26.
            least: Minimum number of nodes of a listed structure. Default: 1.
            track_overlap: Structures of consecutive frames overlap if the volume they share is more than this
                part of the smaller one, from 0 (one shared node) to below 1. Default: 0.
            labels: Also answer, for each node, the number of its structure in the list, or 0. Files contain
                only these labels. Default: false.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved
                along the others. One or more of x, y, z, t. Default: all; for means in nodes, find and
                structures x,y,z, and t in structures of several frames.
            mean_time: Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number,
                a list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            level: 0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k
                then count; in grid also auto, the coarsest level that is fine enough for the samples.
                Default: 0.
            units: check refuses sums, comparisons and functions of quantities whose stated units do not fit
                together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the
                friction velocity and wall distances. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "structures",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "where": where, "connectivity": connectivity, "least": least, "track_overlap": track_overlap, "labels": labels, "over": over, "mean_time": mean_time, "weights": weights, "level": level, "units": units},
        )
