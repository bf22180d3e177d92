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

        One row for each point. u, p, A, grad(p), hess(p), lap(u), hess(u) and lap(A) have the bits of the
        SOAP operations.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            points: Rows of x, y, z (with time=each also t); text 1,2,3;4,5,6; a body of CSV, npy or octets;
                or one of {input: ID}, {random, seed}, {pairs, distance, seed}, {tetrads, distance, seed} in
                the box x, y, z. Rows may be pairs or tetrads too, two or four in succession. Needed.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            time_method: Interpolation in time. One of PCHIP, nearest. Default: PCHIP.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.
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

        A plane if one of x, y, z is a number, a line if two are, else a volume.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            samples: How many, a number or one for each axis that is a range, x first: the middles of equal
                intervals, or over a whole axis from its first node on. Default: the smaller of 64 and the
                nodes of the axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            time_method: Interpolation in time. One of PCHIP, nearest. Default: PCHIP.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

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
        units: Optional[str] = None,
    ) -> Grid:
        """Stored nodes of a region.

        Stored fields, or any quantity at nodes. h5 of fields has the layout of JHTDB cutouts. xmf is what
        ParaView opens, and holds no numbers: it names nodes.h5, the answer to the same question as h5, which
        must lie beside it under that name (the command line writes both, with two --out).

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

        Returns:
            A grid: arrays by name, coordinates, units, to_xarray() and plot().
        """
        return self._call(
            "nodes",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "over": over, "mean_time": mean_time, "level": level, "units": units},
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

        Rows of i, j, k, x, y, z and what, sorted by its first quantity, largest first; without what, in the
        order of nodes. Rows are nodes: the first ten usually lie in one vortex. For ten vortices ask
        structures, which has a row for each, or statistics with reduce {"extremes": q, "count": 10, "apart":
        r}. total is the number of all nodes where the condition holds, missing of those without a value of
        the first quantity, which are not listed.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: none: in the order of nodes.
            where: A condition, such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region;
                in statistics, what does not hold is left out and counted.
            limit: Largest number of rows. Default: 1000.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

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
        open_faces: Optional[str] = None,
        drag: Optional[float] = None,
        frozen: Optional[bool] = None,
        last: Optional[bool] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Rows:
        """Particles and quantities along their paths.

        Rows of particle, t, x, y, z, exit and what along the path. exit is the time at which the particle
        left through an open face; null in JSON and NaN elsewhere if it did not.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: none.
            points: Rows of x, y, z (with time=each also t); text 1,2,3;4,5,6; a body of CSV, npy or octets;
                or one of {input: ID}, {random, seed}, {pairs, distance, seed}, {tetrads, distance, seed} in
                the box x, y, z. Rows may be pairs or tetrads too, two or four in succession. Needed.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Needed.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            integrator: Scheme that moves particles. One of rk4, heun, dopri5. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the step of the
                simulation, else a tenth of the stored interval.
            tolerance: Error of a path with dopri5, as a distance. Default: 1e-6 of the smallest spacing.
            every: Steps from one record to the next. Default: 1.
            open_faces: Particles that leave through open faces stop, or fail the question. Default: stop.
            drag: Response time of inertial particles with Stokes drag, with heun, forward in time; points may
                have vx, vy, vz. Default: particles of the flow.
            frozen: Streamlines: particles follow the velocity at the start of the interval, which may end at
                any time. Default: false.
            last: Record only the end. Default: false.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

        Returns:
            Columns as arrays by name.
        """
        return self._call(
            "paths",
            what,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "derivatives": derivatives, "method": method, "integrator": integrator, "step": step, "tolerance": tolerance, "every": every, "open_faces": open_faces, "drag": drag, "frozen": frozen, "last": last, "level": level, "units": units},
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

        Particles start on a plane or in a box; what is some of map, gradient, eigenvalues, ftle. The gradient
        follows the variational equation along each path.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: map, gradient, ftle.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            samples: How many, a number or one for each axis that is a range, x first: the middles of equal
                intervals, or over a whole axis from its first node on. Default: the smaller of 64 and the
                nodes of the axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Needed.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            integrator: Scheme that moves particles. One of rk4, heun. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the step of the
                simulation, else a tenth of the stored interval.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.

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
        x: Any = None,
        y: Any = None,
        z: Any = None,
        i: Any = None,
        j: Any = None,
        k: Any = None,
        time: Any = None,
        method: Optional[str] = None,
        integrator: Optional[str] = None,
        step: Optional[float] = None,
        tolerance: Optional[float] = None,
        every: Optional[int] = None,
        open_faces: Optional[str] = None,
        orders: Any = None,
        remove: Optional[str] = None,
        increments: Any = None,
        origins: Optional[str] = None,
        bins: Optional[int] = None,
        level: Any = None,
    ) -> Table:
        """Statistics of paths.

        Displacement, autocorrelation, pairs, tetrads and increments at each recorded time; the paths are not
        sent.

        Args:
            points: Rows of x, y, z (with time=each also t); text 1,2,3;4,5,6; a body of CSV, npy or octets;
                or one of {input: ID}, {random, seed}, {pairs, distance, seed}, {tetrads, distance, seed} in
                the box x, y, z. Rows may be pairs or tetrads too, two or four in succession. Needed.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Needed.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            integrator: Scheme that moves particles. One of rk4, heun, dopri5. Default: rk4.
            step: Time step, above 0; with dopri5, the interval between records. Default: the step of the
                simulation, else a tenth of the stored interval.
            tolerance: Error of a path with dopri5, as a distance. Default: 1e-6 of the smallest spacing.
            every: Steps from one record to the next. Default: 1.
            open_faces: Particles that leave through open faces stop, or fail the question. Default: stop.
            orders: Powers of increments or separations. Default: 2, 3; of pairs 2.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; of shells, planes and lines of periodic boxes none.
            increments: Powers of Lagrangian increments u_i(t0 + lag) - u_i(t0); powers that are not whole are
                of absolute values. Default: none.
            origins: Start times t0 of increments: the start, or every record. One of start, all. Default:
                start.
            bins: Bins of histograms of increments over range. Default: no histograms.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "dispersion",
            None,
            {"points": points, "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "method": method, "integrator": integrator, "step": step, "tolerance": tolerance, "every": every, "open_faces": open_faces, "orders": orders, "remove": remove, "increments": increments, "origins": origins, "bins": bins, "level": level},
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

        Over the nodes of a region, or over points, all reductions in one pass.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field; with reduce none.
            points: Rows of x, y, z (with time=each also t); text 1,2,3;4,5,6; a body of CSV, npy or octets;
                or one of {input: ID}, {random, seed}, {pairs, distance, seed}, {tetrads, distance, seed} in
                the box x, y, z. Rows may be pairs or tetrads too, two or four in succession.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            where: A condition, such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region;
                in statistics, what does not hold is left out and counted.
            reduce: Reductions: {"moments": q, "order": 4} (to 8), {"quantiles": q, "at": [p, …]},
                {"covariance": [q, …]}, {"histogram": q, "bins": n, "range": [a, b]}, {"joint": [q1, q2],
                "bins": [n, m], "range": [[a, b], [c, d]]}, {"conditional": q, "on": c, "bins": n, "range":
                [a, b]} (on one quantity or [c1, c2], with bins and range for each), where without range it is
                that of the values; {"extremes": q, "count": n, "apart": r} (at least r from each other),
                budget:k and budget:uv (any Reynolds stress). Default: the moments of each of what.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            by: Stored times of a block: moments, covariances and conditional means over t get standard
                errors, of the series of blocks. Default: no standard errors.
            fold: Average the two halves of an axis, by a mirror in its middle or a rotation by 180 degrees
                about z (for z, about y), with the signs of the components. One of x:mirror, y:mirror,
                z:mirror, x:rotation, y:rotation, z:rotation. Default: no folding.
            odd: Further fields that change their sign in fold. Default: none.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.
            u_tau: Friction velocity of wall units. Default: of the mean of u.x at both walls.

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

        Sums of modes over shells, rings or lines, with the scales of the velocity; for frequencies, means
        over segments in time.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            terms: Of spectra: transfer, flux, dissipation, helicity, cross:q; of structure functions:
                longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom. Default: the energy; all of
                structure functions.
            kind: Shells of a cube, rings of planes, lines, modes of several axes, frequencies, or wavenumbers
                along an axis and frequencies. One of shell, plane, line, modes, frequency,
                wavenumber_frequency. Default: shell if all axes are periodic, else plane, else line.
            axis: The axis of lines or across planes; the axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: x; of planes the open axis; of modes all
                periodic ones; of structure functions all.
            cross: A pair of scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).
            at: The place of the first quantity of a pair along an axis that is not in over; the second takes
                all places: <conj(A(y0)) B(y)>.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; of shells, planes and lines of periodic boxes none.
            normalise: Of lines, modes and frequencies: density E/dk, premultiplied k E/dk, or also
                wavelengths. One of density, premultiplied, wavelength. Default: sums of modes.
            segment: Times of a segment of frequency spectra, which are averaged over segments (Welch).
                Default: all times.
            overlap: Times that two successive segments share. Default: half of a segment.
            window: Window of a segment: (1 - cos(2 pi j/n))/2, or 1. One of hann, none. Default: hann.
            detrend: Subtract from each segment its mean, its least-squares line, or nothing. One of constant,
                linear, none. Default: constant.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

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

        R_ab(r) = <a'(x) b'(x + r)> along a periodic axis or over a plane of two, at each place of the
        directions that are not averaged; rho is R over both root mean squares.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            axis: The axis of lines or across planes; the axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: x; of planes the open axis; of modes all
                periodic ones; of structure functions all.
            cross: A pair of scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).
            at: The place of the first quantity of a pair along an axis that is not in over; the second takes
                all places: <conj(A(y0)) B(y)>.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; of shells, planes and lines of periodic boxes none.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

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
        where: Optional[str] = None,
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

        Mean and count of what at each offset in nodes from the nodes where the condition holds, across seams
        too; beyond open ends values are missing. Along stretched axes, places stay.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            where: A condition, such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region;
                in statistics, what does not hold is left out and counted. Needed.
            lag: Nodes on each side of an event: one number, or those along x, y and z. Default: 4; along
                stretched axes 0.
            orient: Turns offsets, vectors and tensors into the axes of the strain (of falling eigenvalues) or
                of the vorticity (z) at each event; values are interpolated by method. One of strain, omega.
                Default: the axes of the grid.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "around",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "where": where, "lag": lag, "orient": orient, "method": method, "over": over, "mean_time": mean_time, "weights": weights, "level": level, "units": units},
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
        separations: Any = None,
        remove: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Moments of increments.

        Exact means over all pairs of nodes along axes, or over pairs at random points.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: u, or the first field.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            method: Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8. Default:
                Lag8.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            terms: Of spectra: transfer, flux, dissipation, helicity, cross:q; of structure functions:
                longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom. Default: the energy; all of
                structure functions.
            axis: The axis of lines or across planes; the axes of modes, of correlations (one or two) and of
                structure functions. One or more of x, y, z. Default: x; of planes the open axis; of modes all
                periodic ones; of structure functions all.
            orders: Powers of increments or separations. Default: 2, 3; of pairs 2.
            absolute: Powers p above 0, whole or not, of absolute increments: <|d|^p>, longitudinal of a
                vector, with its local slope against <|d|^3>. Default: none.
            separations: Separations as a list of nodes, or {lengths, pairs, seed} between random points.
                Default: 1, 2, 4, … up to half the nodes.
            remove: Subtract the mean, the mean of each frame, or nothing. One of mean, frame, none. Default:
                mean; of shells, planes and lines of periodic boxes none.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "structure_functions",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "method": method, "derivatives": derivatives, "filter": filter, "weights": weights, "terms": terms, "axis": axis, "orders": orders, "absolute": absolute, "separations": separations, "remove": remove, "level": level, "units": units},
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
        labels: Optional[bool] = None,
        over: Any = None,
        mean_time: Any = None,
        weights: Optional[str] = None,
        level: Any = None,
        units: Optional[str] = None,
    ) -> Table:
        """Connected sets of nodes where a condition holds.

        A row for each structure, the largest volume first: volume, centre, box, and integral, mean and
        extremes of what; sort by the maximum of what for the strongest. Structures continue across periodic
        seams.

        Args:
            what: Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions
                such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with
                commas. Default: none.
            x: Along x: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            y: Along y: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            z: Along z: a number, or first:last in lengths, both ends in it. Default: the whole axis.
            i: Nodes along x, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            j: Nodes along y, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            k: Nodes along z, counted from 0: a number, or first:end:stride, the end not in it; on a periodic
                axis up to one period past the seam. Default: the whole axis.
            time: A number, a list, first:last:step with both ends in it, all, or in values each (a time for
                each point); of paths the interval first:last, backwards if last is smaller, or each:D.
                Default: the only one that is stored.
            frame: Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.
            derivatives: Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral. Default: that
                of a spline; else Fd4Lag4 between nodes and Fd4 at nodes.
            filter: The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or
                box, the mean over a cube about a point.
            where: A condition, such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region;
                in statistics, what does not hold is left out and counted. Needed.
            connectivity: Neighbours of a node: 6 share a face, 18 also an edge, 26 also a corner. Default:
                26.
            least: Smallest number of nodes of a listed structure. Default: 1.
            labels: Also answer for each node the number of its structure in the list, or 0; files have only
                these labels. Default: false.
            over: Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along
                the others. One or more of x, y, z, t. Default: all; of means in nodes, find and structures
                x,y,z.
            mean_time: Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a
                list or a range. Default: the times of the question.
            weights: Weight of a node: the volume of its cell, or 1. One of volume, nodes. Default: volume.
            level: 0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid
                also auto, the coarsest level that is fine enough. Default: 0.
            units: Whether sums, comparisons and functions must fit together in the units that the dataset
                states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside
                (statistics). One of check, ignore, plus. Default: check.

        Returns:
            The members of the answer, lists of numbers as arrays; to_pandas() is the table.
        """
        return self._call(
            "structures",
            what,
            {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "time": time, "frame": frame, "derivatives": derivatives, "filter": filter, "where": where, "connectivity": connectivity, "least": least, "labels": labels, "over": over, "mean_time": mean_time, "weights": weights, "level": level, "units": units},
        )
